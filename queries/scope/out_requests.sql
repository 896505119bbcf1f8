-- question: which requests stand in one of the two lists of requests?
-- inputs:   affected_requests
-- grain:    one row per recipient request
-- parameters: listed
-- order:    received_at, request_id
SELECT
    request_id,
    tenant_id,
    strftime(received_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS received_at,
    worker,
    verdict,
    fragments,
    foreign_chars,
    source_tenants
FROM affected_requests
WHERE listed = $listed
ORDER BY affected_requests.received_at NULLS LAST, request_id
