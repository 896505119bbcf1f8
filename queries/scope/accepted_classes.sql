-- question: of which class of planted leaks is each affected response?
-- inputs:   fragments, verdicts
-- grain:    one row per response with a fragment that is probable or better
-- parameters: none
-- order:    request
-- The class of the longest such fragment. A length belongs to the class whose length is nearest by ratio.
WITH strong AS (
    SELECT
        f.request,
        f.kind,
        f."end" - f."start" AS length,
        f.q_value,
        v.verdict = 'confirmed' AS confirmed,
        f.fragment_id
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict IN ('confirmed', 'probable')
),
longest AS (
    SELECT
        request,
        arg_max(kind, (length, fragment_id)) AS kind,
        max(length) AS length
    FROM strong
    GROUP BY request
)
SELECT
    request,
    CASE
        WHEN kind IN ('identifier', 'whole_response') THEN kind
        WHEN length < 57 THEN '40'
        WHEN length < 98 THEN '80'
        WHEN length < 155 THEN '120'
        WHEN length < 317 THEN '200'
        WHEN length < 1000 THEN '500'
        ELSE '2000'
    END AS class
FROM longest
ORDER BY request
