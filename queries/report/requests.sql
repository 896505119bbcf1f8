-- question: which requests are affected, the surest and earliest first?
-- inputs:   affected_requests
-- grain:    one row per recipient request
-- parameters: rows (the most rows)
-- order:    listed, received_at, request_id
SELECT
    request_id,
    tenant_id,
    epoch_us(received_at) AS received_us,
    worker,
    verdict,
    fragments,
    foreign_chars,
    source_tenants
FROM affected_requests
ORDER BY listed, received_at NULLS LAST, request_id
LIMIT $rows
