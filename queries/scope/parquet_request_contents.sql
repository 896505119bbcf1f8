-- question: which rows of `request_contents` go to out/request_contents.parquet?
-- inputs:   request_contents
-- grain:    as the table
-- parameters: none
-- order:    key, side, ordinal, field
SELECT *
FROM request_contents
ORDER BY key, side, ordinal, field
