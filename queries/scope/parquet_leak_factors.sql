-- question: which rows of `leak_factors` go to out/leak_factors.parquet?
-- inputs:   leak_factors
-- grain:    as the table
-- parameters: none
-- order:    factor, value
SELECT *
FROM leak_factors
ORDER BY factor, value
