-- question: which rows of `trials` go to out/trials.parquet?
-- inputs:   trials
-- grain:    as the table
-- parameters: none
-- order:    plan_id, fragment_id, arm, trial
SELECT *
FROM trials
ORDER BY plan_id, fragment_id, arm, trial
