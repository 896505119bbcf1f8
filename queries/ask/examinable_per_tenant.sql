-- question: which tenants can be told "examined, nothing found", and which only "not examined"?
-- inputs:   joined_requests, affected_tenants
-- grain:    one row per tenant (null: requests without a tenant)
-- parameters: none
-- order:    tenant_id
-- empty:    there are no requests in the evidence
WITH per_tenant AS (
    SELECT tenant_id, count(*) AS requests, count(*) FILTER (WHERE examinable) AS examinable
    FROM joined_requests
    GROUP BY tenant_id
)
SELECT
    per_tenant.tenant_id,
    per_tenant.requests,
    per_tenant.examinable,
    CASE
        WHEN affected_tenants.tenant_id IS NOT NULL THEN 'affected'
        WHEN per_tenant.examinable = per_tenant.requests THEN 'examined, nothing found'
        WHEN per_tenant.examinable = 0 THEN 'not examined'
        ELSE 'examined in part, nothing found in it'
    END AS standing
FROM per_tenant
LEFT JOIN affected_tenants USING (tenant_id)
ORDER BY per_tenant.tenant_id NULLS LAST
