-- question: at which moments did people, or the evidence, first point to the leak?
-- inputs:   reviews, affected_requests
-- grain:    one row per kind of moment (null: there was none)
-- parameters: none
-- order:    as named
WITH moments AS (
    SELECT 1 AS place, 'the last affected response was received' AS what, max(received_at) AS moment
    FROM affected_requests
    WHERE listed = 'affected'
    UNION ALL
    SELECT 2, 'a person first reviewed a fragment', min("at")
    FROM reviews
    UNION ALL
    SELECT 3, 'a person first accepted a fragment', min("at")
    FROM reviews
    WHERE decision = 'accept'
)
SELECT what, strftime(moment, '%Y-%m-%dT%H:%M:%SZ') AS moment
FROM moments
ORDER BY place
