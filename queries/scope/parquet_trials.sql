-- question: which rows of `trials` go to out/trials.parquet?
-- inputs:   trials
-- grain:    as the table
-- parameters: none
-- order:    fragment_id, arm, trial, seed
SELECT *
FROM trials
ORDER BY fragment_id, arm, trial, seed
