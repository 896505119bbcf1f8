-- question: with which requests did one request share forward passes, and how many?
-- inputs:   batch_members, batches, joined_requests
-- grain:    one row per other request
-- parameters: request
-- order:    passes (most first), first_at, request_id
-- empty:    these logs do not say with whom this request shared a forward pass, or there is no such request
WITH own AS (
    SELECT DISTINCT m.batch
    FROM batch_members AS m
    INNER JOIN joined_requests AS j ON j.request = m.request
    WHERE j.request_id = $request
),
mates AS (
    SELECT
        m.request,
        count(*) AS passes,
        min(b."at") AS first_at,
        max(b."at") AS last_at,
        min(b.worker) AS worker,
        min(b.source) AS source
    FROM batch_members AS m
    INNER JOIN own AS o ON o.batch = m.batch
    INNER JOIN batches AS b ON b.batch = m.batch
    GROUP BY m.request
)
SELECT j.request_id, j.tenant_id, m.worker, m.passes, m.first_at, m.last_at, m.source
FROM mates AS m
INNER JOIN joined_requests AS j ON j.request = m.request
WHERE j.request_id <> $request
ORDER BY m.passes DESC, m.first_at, j.request_id
