-- question: how long was each request on its worker, as far as request times tell?
-- inputs:   joined_requests, requests, request_workers
-- grain:    one row per request with at least one time
-- parameters: none
-- order:    none (INSERT)
-- Confidence starts at 1 and is multiplied by 0.5 for each thing that had to be assumed: a missing worker, a missing
-- receive or finish time (the stay is then a moment), times in the wrong order; and by 0.9 for times in whole seconds.
INSERT INTO residencies BY NAME
WITH coarse AS (
    SELECT request, bool_or(time_precision = 's') AS whole_seconds
    FROM requests
    GROUP BY request
)
SELECT
    j.request,
    w.worker,
    NULL::VARCHAR AS slot,
    'serve' AS phase,
    least(coalesce(j.received_at, j.finished_at), coalesce(j.finished_at, j.received_at)) AS "start",
    greatest(coalesce(j.received_at, j.finished_at), coalesce(j.finished_at, j.received_at)) AS "end",
    'derived' AS basis,
    CASE WHEN w.known THEN 1.0 ELSE 0.5 END
    * CASE WHEN j.received_at IS NULL OR j.finished_at IS NULL THEN 0.5 ELSE 1.0 END
    * CASE WHEN j.finished_at < j.received_at THEN 0.5 ELSE 1.0 END
    * CASE WHEN c.whole_seconds THEN 0.9 ELSE 1.0 END AS confidence,
    'request_times' AS source
FROM joined_requests AS j
INNER JOIN request_workers AS w ON w.request = j.request
LEFT JOIN coarse AS c ON c.request = j.request
WHERE j.received_at IS NOT NULL OR j.finished_at IS NOT NULL
