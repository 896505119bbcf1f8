-- question: (audit) which tenants are named as a source without an appearance or a canary, or the other way round?
-- inputs:   fragments, appearances, canaries
-- grain:    one row per fragment x tenant
-- parameters: none
-- order:    subject, problem
WITH named AS (
    SELECT fragment_id, stratum, unnest(sources) AS tenant_id
    FROM fragments
),
shown AS (
    SELECT DISTINCT fragment_id, source_tenant_id AS tenant_id
    FROM appearances
    WHERE named
),
planted AS (
    -- A canary says whose it is, whether or not the request it was planted in was logged.
    SELECT DISTINCT 'canary' AS stratum, tenant_id
    FROM canaries
)
SELECT 'fragment ' || named.fragment_id AS subject, 'a source is named without an appearance' AS problem
FROM named
ANTI JOIN shown USING (fragment_id, tenant_id)
ANTI JOIN planted USING (stratum, tenant_id)
UNION ALL
SELECT 'fragment ' || shown.fragment_id, 'an appearance is marked as named, but the source is not'
FROM shown
ANTI JOIN named USING (fragment_id, tenant_id)
ORDER BY subject, problem
