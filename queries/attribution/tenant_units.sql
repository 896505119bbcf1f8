-- question: which isolation units and organisations does each tenant belong to?
-- inputs:   joined_requests, tenants
-- grain:    one row per tenant x unit or organisation
-- parameters: none
-- order:    tenant_id, unit
SELECT DISTINCT
    tenant_id,
    isolation_unit AS unit
FROM joined_requests
WHERE tenant_id IS NOT NULL AND isolation_unit IS NOT NULL
UNION
SELECT DISTINCT
    tenant_id,
    coalesce(organisation, tenant_id)
FROM tenants
ORDER BY tenant_id, unit
