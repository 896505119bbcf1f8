-- question: what are tenants called in the tenants file, and how are they reached?
-- inputs:   tenants
-- grain:    one row per tenant and way of being called
-- parameters: none
-- order:    tenant_id, name
SELECT DISTINCT
    tenant_id,
    unnest([tenant_id, organisation, legal_name, contact]) AS name
FROM tenants
WHERE tenant_id IS NOT NULL
ORDER BY tenant_id, name NULLS LAST
