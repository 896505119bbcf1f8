-- question: what did the replays say of each leak?
-- inputs:   replay_verdicts
-- grain:    one row per plan and leak
-- parameters: none
-- order:    plan_id, fragment_id
SELECT
    plan_id,
    fragment_id,
    verdict,
    because,
    text,
    figures
FROM replay_verdicts
ORDER BY plan_id, fragment_id
