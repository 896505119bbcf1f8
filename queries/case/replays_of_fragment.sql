-- question: what did replays say of a fragment?
-- inputs:   replay_verdicts
-- grain:    one row per plan that replayed it
-- parameters: fragment
-- order:    plan_id
SELECT
    plan_id,
    verdict,
    because,
    text,
    figures
FROM replay_verdicts
WHERE fragment_id = $fragment
ORDER BY plan_id
