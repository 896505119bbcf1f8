-- question: which request ids stand for more than one request (two tenants, or a retry)?
-- inputs:   joined_requests
-- grain:    one row per request id that several requests have
-- parameters: none
-- order:    request_id
-- empty:    no request id stands for more than one request
SELECT
    request_id,
    count(*) AS requests,
    count(DISTINCT tenant_id) AS tenants,
    coalesce(list_sort(list(DISTINCT tenant_id) FILTER (WHERE tenant_id IS NOT NULL)), []) AS tenant_ids,
    min(received_at) AS first_received_at,
    max(received_at) AS last_received_at
FROM joined_requests
GROUP BY request_id
HAVING count(*) > 1
ORDER BY request_id
