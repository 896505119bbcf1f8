-- question: what are tenants called: accounts in the logs, and what the tenants file says of them?
-- inputs:   joined_requests, tenants
-- grain:    one row per tenant and way of being called
-- parameters: none
-- order:    tenant_id, name
SELECT DISTINCT tenant_id, name
FROM (
    SELECT tenant_id, tenant_id AS name
    FROM joined_requests
    UNION ALL
    SELECT tenant_id, unnest([tenant_id, organisation, legal_name, contact]) AS name
    FROM tenants
)
WHERE tenant_id IS NOT NULL AND name IS NOT NULL
ORDER BY tenant_id, name
