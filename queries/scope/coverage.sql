-- question: how much of the traffic could be examined, and what kept the rest from it?
-- inputs:   joined_requests, evidence, affected_requests
-- grain:    one row per figure
-- parameters: none
-- order:    name
WITH totals AS (
    SELECT
        count(*) AS requests,
        count(DISTINCT tenant_id) AS tenants,
        count(DISTINCT worker) AS workers,
        count(*) FILTER (WHERE examinable) AS examined,
        count(*) FILTER (WHERE NOT examinable) AS not_examinable,
        count(*) FILTER (WHERE tenant_id IS NULL) AS without_tenant,
        count(*) FILTER (WHERE received_at IS NULL) AS without_time
    FROM joined_requests
),
reasons AS (
    SELECT
        examinable_reason AS reason,
        count(*) AS requests
    FROM joined_requests
    WHERE NOT examinable
    GROUP BY examinable_reason
),
reading AS (
    SELECT
        count(*) AS files,
        coalesce(sum(records), 0)::BIGINT AS records,
        coalesce(sum(rejected), 0)::BIGINT AS rejected,
        coalesce(sum(records + rejected + blank + structure), 0)::BIGINT AS lines
    FROM evidence
),
per_tenant AS (
    SELECT tenant_id, count(*) AS requests, count(*) FILTER (WHERE examinable) AS examined
    FROM joined_requests
    WHERE tenant_id IS NOT NULL
    GROUP BY tenant_id
),
standing AS (
    SELECT
        count(*) AS tenants,
        count(*) FILTER (WHERE examined = requests) AS whole,
        count(*) FILTER (WHERE examined > 0 AND examined < requests) AS part,
        count(*) FILTER (WHERE examined = 0) AS not_at_all
    FROM per_tenant
)
SELECT 'requests' AS name, requests AS n, NULL::BIGINT AS total, 'requests in the evidence, vantages joined' AS method
FROM totals
UNION ALL
SELECT 'tenants', tenants, NULL, 'distinct tenants in the evidence'
FROM totals
UNION ALL
SELECT 'workers', workers, NULL, 'distinct workers in the evidence'
FROM totals
UNION ALL
SELECT 'examined', examined, requests, 'requests whose tenant, prompt and response are present in full'
FROM totals
UNION ALL
SELECT 'not_examinable', not_examinable, requests, 'requests that lack the tenant, or the prompt or response in full'
FROM totals
UNION ALL
SELECT
    'not_examinable.' || regexp_replace(lower(r.reason), '[^a-z0-9]+', '_', 'g'),
    sum(r.requests)::BIGINT,
    any_value(t.requests),
    'requests that cannot be examined for this reason'
FROM reasons AS r
CROSS JOIN totals AS t
GROUP BY 1
UNION ALL
SELECT 'requests_without_tenant', without_tenant, requests, 'no evidence names the tenant'
FROM totals
UNION ALL
SELECT 'requests_without_time', without_time, requests, 'no receive time; such requests stand in no rate and no window'
FROM totals
UNION ALL
SELECT
    'recipient_requests_without_tenant',
    (SELECT count(*) FROM affected_requests WHERE tenant_id IS NULL),
    (SELECT count(*) FROM affected_requests),
    'requests with foreign text whose tenant is not known, so that nobody can be told'
UNION ALL
SELECT 'evidence.files', files, NULL, 'evidence files read'
FROM reading
UNION ALL
SELECT 'evidence.records', records, lines, 'records read; total: lines of all kinds'
FROM reading
UNION ALL
SELECT 'evidence.rejected', rejected, lines, 'records that could not be read; total: lines of all kinds'
FROM reading
UNION ALL
SELECT 'tenants.examined_whole', whole, tenants, 'tenants all of whose requests could be examined'
FROM standing
UNION ALL
SELECT 'tenants.examined_in_part', part, tenants, 'tenants some of whose requests could not be examined'
FROM standing
UNION ALL
SELECT 'tenants.not_examined', not_at_all, tenants, 'tenants none of whose requests could be examined'
FROM standing
ORDER BY name
