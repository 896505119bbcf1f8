-- question: which rows of `fragments` go to out/fragments.parquet?
-- inputs:   fragments
-- grain:    as the table
-- parameters: none
-- order:    fragment_id
SELECT *
FROM fragments
ORDER BY fragment_id
