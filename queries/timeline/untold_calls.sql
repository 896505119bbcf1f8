-- question: which calls of the engines' own logs have no line of times, though their scheduler writes such lines?
-- inputs:   requests, time_stats, request_workers
-- grain:    one row per call
-- parameters: none
-- order:    worker, received_us
-- A call that was aborted before its first token may never have had a row: a call that ran has a line even if aborted.
WITH workers AS (
    SELECT DISTINCT w.worker
    FROM time_stats AS t
    INNER JOIN request_workers AS w ON w.request = t.request
)
SELECT w.worker, min(epoch_us(q.received_at)) AS received_us
FROM requests AS q
INNER JOIN request_workers AS w ON w.request = q.request
SEMI JOIN workers AS k ON k.worker = w.worker
ANTI JOIN (SELECT request FROM time_stats WHERE request IS NOT NULL) AS t ON t.request = q.request
WHERE q.vantage = 'engine' AND q.received_at IS NOT NULL
    AND NOT (coalesce(q.status, '') = 'aborted' AND coalesce(q.completion_tokens, 0) = 0)
GROUP BY w.worker, q.request
ORDER BY w.worker, received_us
