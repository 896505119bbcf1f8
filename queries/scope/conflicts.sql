-- question: how many verdicts rest on a rejection that a replay contradicts, on an acceptance that cannot lift them, or meet a replay that shows the model's memory?
-- inputs:   verdicts, replay_verdicts
-- grain:    one row
-- parameters: none
-- order:    none
WITH memory AS (
    SELECT DISTINCT fragment_id
    FROM replay_verdicts
    WHERE verdict = 'model_memory'
)
SELECT
    count(*) FILTER (WHERE v.basis = 'review: reject, against a reproduced trial') AS rejected_against_trial,
    count(*) FILTER (WHERE v.basis LIKE 'machine; review: accept%') AS accepted_too_weak,
    count(m.fragment_id) FILTER (WHERE v.verdict <> 'excluded') AS memory
FROM verdicts AS v
LEFT JOIN memory AS m ON m.fragment_id = v.fragment_id
