-- question: what does the report say of replays, where a fragment was replayed?
-- inputs:   replay_verdicts, fragments
-- grain:    one row per plan and leak
-- parameters: none
-- order:    recipient_request_id, fragment_id, plan_id
SELECT
    f.recipient_request_id,
    v.fragment_id,
    v.plan_id,
    v.verdict,
    v.because,
    v.figures
FROM replay_verdicts AS v
INNER JOIN fragments AS f ON f.fragment_id = v.fragment_id
ORDER BY f.recipient_request_id, v.fragment_id, v.plan_id
