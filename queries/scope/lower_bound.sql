-- question: how many responses are affected at least?
-- inputs:   fragments, verdicts
-- grain:    one row
-- parameters: none
-- order:    none
WITH responses AS (
    SELECT
        f.request,
        bool_or(v.verdict = 'confirmed') AS confirmed,
        min(f.q_value) AS q_value
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict IN ('confirmed', 'probable')
    GROUP BY f.request
)
SELECT
    count(*) FILTER (WHERE confirmed) AS confirmed,
    count(*) AS responses,
    count(q_value) AS with_q,
    max(q_value) AS worst_q
FROM responses
