-- question: how are the lengths of the fragments spread, in doubling steps from 20 code points on?
-- inputs:   fragments, verdicts
-- grain:    one row per step and level that holds a fragment
-- parameters: none
-- order:    step, level
WITH measured AS (
    SELECT
        f."end" - f."start" AS characters,
        CASE WHEN v.verdict IN ('confirmed', 'probable') THEN 'probable or better' ELSE 'weaker' END AS level
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict <> 'excluded'
),
stepped AS (
    SELECT
        *,
        CASE WHEN characters < 20 THEN 0 ELSE 1 + floor(log2(characters / 20.0))::INTEGER END AS step
    FROM measured
)
SELECT
    step,
    CASE WHEN step = 0 THEN 1 ELSE (20 * pow(2, step - 1))::BIGINT END AS from_characters,
    (20 * pow(2, step))::BIGINT - 1 AS to_characters,
    level,
    count(*) AS fragments
FROM stepped
GROUP BY step, level
ORDER BY step, level
