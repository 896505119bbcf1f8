-- question: which requests declare different cache keys that their engine may join to one?
-- inputs:   cache_key_collisions, joined_requests
-- grain:    one row per worker, rule and pair of keys
-- parameters: none
-- order:    worker, rule, first_request_id, second_request_id
-- empty:    no two requests declare cache keys that their engine would join
SELECT
    c.worker,
    c.rule,
    a.request_id AS first_request_id,
    a.tenant_id AS first_tenant_id,
    b.request_id AS second_request_id,
    b.tenant_id AS second_tenant_id,
    c.first_requests,
    c.second_requests,
    c.version,
    c.applies
FROM cache_key_collisions AS c
INNER JOIN joined_requests AS a ON a.request = c.first_request
INNER JOIN joined_requests AS b ON b.request = c.second_request
ORDER BY c.worker, c.rule, first_request_id, second_request_id
