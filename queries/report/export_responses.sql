-- question: which responses carry foreign text, the surest first, as an export names them?
-- inputs:   affected_requests
-- grain:    one row per recipient request
-- parameters: most
-- order:    verdict (surest first), received_at, request
SELECT
    request_id,
    tenant_id,
    verdict,
    fragments,
    foreign_chars,
    epoch_us(received_at) AS received_us
FROM affected_requests
WHERE verdict <> 'undetermined'
ORDER BY
    CASE verdict WHEN 'confirmed' THEN 1 WHEN 'probable' THEN 2 ELSE 3 END,
    received_at NULLS LAST,
    request
LIMIT $most
