-- question: which rows of `tenants` go to out/tenants.parquet?
-- inputs:   tenants
-- grain:    as the table
-- parameters: none
-- order:    key_kind, key, tenant_id, organisation
SELECT *
FROM tenants
ORDER BY key_kind, key, tenant_id, organisation
