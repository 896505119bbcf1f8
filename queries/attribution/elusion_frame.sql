-- question: which examined responses carry no finding, and where are unseen leaks likely?
-- inputs:   joined_requests, fragments
-- grain:    one row per response without a fragment
-- parameters: none
-- order:    stratum, request
-- `likely`: received between the first and the last probable finding, on a worker that has one (any, where none is known).
WITH found AS (
    SELECT
        f.request,
        j.worker,
        j.received_at
    FROM fragments AS f
    INNER JOIN joined_requests AS j ON j.request = f.request
    WHERE f.machine_verdict = 'probable'
),
ends AS (
    SELECT
        min(received_at) AS first_at,
        max(received_at) AS last_at
    FROM found
),
workers AS (
    SELECT DISTINCT coalesce(worker, '') AS worker
    FROM found
)
SELECT
    CASE
        WHEN j.received_at BETWEEN e.first_at AND e.last_at AND w.worker IS NOT NULL THEN 'likely'
        ELSE 'other'
    END AS stratum,
    j.request,
    j.request_id
FROM joined_requests AS j
CROSS JOIN ends AS e
LEFT JOIN workers AS w ON w.worker = coalesce(j.worker, '')
WHERE j.examinable AND j.request NOT IN (SELECT request FROM fragments)
ORDER BY stratum, j.request
