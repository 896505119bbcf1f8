-- question: which responses should a person read, and what was decided about them?
-- inputs:   elusion_sample, elusion_reviews, joined_requests
-- grain:    one row per response of the sample
-- parameters: none
-- order:    stratum, request_id
WITH last_review AS (
    SELECT request_id, decision, name
    FROM elusion_reviews
    QUALIFY row_number() OVER (PARTITION BY request_id ORDER BY "at" DESC, name DESC, decision DESC) = 1
)
SELECT
    s.stratum,
    s.stratum_size,
    s.request_id,
    j.tenant_id,
    strftime(j.received_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS received_at,
    j.worker,
    r.decision,
    r.name
FROM elusion_sample AS s
INNER JOIN joined_requests AS j ON j.request = s.request
LEFT JOIN last_review AS r ON r.request_id = s.request_id
ORDER BY s.stratum, s.request_id
