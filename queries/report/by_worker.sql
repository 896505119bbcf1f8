-- question: how many responses of each worker are affected?
-- inputs:   joined_requests, affected_requests
-- grain:    one row per worker
-- parameters: none
-- order:    worker
SELECT
    j.worker,
    count(*) AS responses,
    count(*) FILTER (WHERE a.listed = 'affected') AS affected,
    count(*) FILTER (WHERE a.listed = 'possible') AS possible
FROM joined_requests AS j
LEFT JOIN affected_requests AS a ON a.request = j.request
GROUP BY j.worker
ORDER BY j.worker NULLS LAST
