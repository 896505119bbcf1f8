-- question: which rows of `controls` go to out/controls.parquet?
-- inputs:   controls
-- grain:    as the table
-- parameters: none
-- order:    measure, class
SELECT *
FROM controls
ORDER BY measure, class
