-- question: which rows of `affected_tenants` go to out/affected_tenants.parquet?
-- inputs:   affected_tenants
-- grain:    as the table
-- parameters: none
-- order:    tenant_id
SELECT *
FROM affected_tenants
ORDER BY tenant_id
