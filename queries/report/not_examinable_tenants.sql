-- question: of which tenants could most not be examined?
-- inputs:   joined_requests
-- grain:    one row per tenant with a request that could not be examined
-- parameters: none
-- order:    not_examinable (most first), tenant_id
SELECT
    tenant_id,
    count(*) AS requests,
    count(*) FILTER (WHERE NOT examinable) AS not_examinable
FROM joined_requests
WHERE tenant_id IS NOT NULL
GROUP BY tenant_id
HAVING not_examinable > 0
ORDER BY not_examinable DESC, tenant_id
