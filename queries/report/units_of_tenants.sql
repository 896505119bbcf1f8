-- question: which isolation units does each tenant belong to?
-- inputs:   joined_requests
-- grain:    one row per tenant and isolation unit
-- parameters: none
-- order:    tenant_id, isolation_unit
SELECT DISTINCT
    tenant_id,
    isolation_unit
FROM joined_requests
WHERE tenant_id IS NOT NULL
ORDER BY tenant_id, isolation_unit NULLS LAST
