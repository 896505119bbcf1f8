-- question: which tenants need a pseudonym?
-- inputs:   joined_requests, fragments, appearances
-- grain:    one row per tenant
-- parameters: none
-- order:    tenant_id
SELECT tenant_id FROM joined_requests WHERE tenant_id IS NOT NULL
UNION
SELECT recipient_tenant_id FROM fragments WHERE recipient_tenant_id IS NOT NULL
UNION
SELECT source_tenant_id FROM appearances WHERE source_tenant_id IS NOT NULL
UNION
SELECT unnest(sources) FROM fragments
ORDER BY tenant_id
