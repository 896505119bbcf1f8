-- question: which rows of `replay_verdicts` go to out/replay_verdicts.parquet?
-- inputs:   replay_verdicts
-- grain:    as the table
-- parameters: none
-- order:    plan_id, fragment_id
SELECT *
FROM replay_verdicts
ORDER BY plan_id, fragment_id
