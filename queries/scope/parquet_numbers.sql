-- question: which rows of `numbers` go to out/numbers.parquet?
-- inputs:   numbers
-- grain:    as the table
-- parameters: none
-- order:    name
SELECT *
FROM numbers
ORDER BY name
