-- question: which request has which number in the timeline?
-- inputs:   joined_requests
-- grain:    one row per request that is among `wanted`
-- parameters: wanted
-- order:    request
SELECT
    request,
    request_id
FROM joined_requests
WHERE request IN (SELECT unnest($wanted))
ORDER BY request
