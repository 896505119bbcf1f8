-- question: which plans were run, and what holds for all of their leaks?
-- inputs:   replays
-- grain:    one row per plan
-- parameters: none
-- order:    plan_id
SELECT
    plan_id,
    facts
FROM replays
ORDER BY plan_id
