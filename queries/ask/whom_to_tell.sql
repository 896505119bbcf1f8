-- question: whom must we notify, and who can be told "examined, nothing found" rather than "not examined"?
-- inputs:   joined_requests, affected_tenants
-- grain:    one row per tenant
-- parameters: none
-- order:    notify (yes, review, no), tenant_id
-- empty:    no evidence names a tenant, so nobody can be told anything
WITH per_tenant AS (
    SELECT tenant_id, count(*) AS requests, count(*) FILTER (WHERE examinable) AS examined
    FROM joined_requests
    WHERE tenant_id IS NOT NULL
    GROUP BY tenant_id
),
known AS (
    SELECT tenant_id FROM per_tenant
    UNION
    SELECT tenant_id FROM affected_tenants
)
SELECT
    k.tenant_id,
    coalesce(a.notify, 'no') AS notify,
    coalesce(a.role, 'none') AS role,
    a.verdict,
    coalesce(p.requests, 0) AS requests,
    coalesce(p.examined, 0) AS examined,
    CASE
        WHEN a.notify IN ('yes', 'review') THEN 'affected'
        WHEN a.tenant_id IS NOT NULL THEN 'something weaker than probable was found: review it first'
        WHEN p.examined = p.requests THEN 'examined, nothing found'
        WHEN p.examined = 0 THEN 'not examined'
        ELSE 'examined in part, nothing found in it'
    END AS standing
FROM known AS k
LEFT JOIN per_tenant AS p ON p.tenant_id = k.tenant_id
LEFT JOIN affected_tenants AS a ON a.tenant_id = k.tenant_id
ORDER BY list_position(['yes', 'review', 'no'], coalesce(a.notify, 'no')), k.tenant_id
