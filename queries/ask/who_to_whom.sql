-- question: whose text reached whom, how often?
-- inputs:   fragments, verdicts
-- grain:    one row per source tenant x recipient tenant x verdict
-- parameters: none
-- order:    source_tenant_id, recipient_tenant_id, verdict
-- empty:    no fragment has a possible source
WITH named AS (
    SELECT
        unnest(fragments.sources) AS source_tenant_id,
        fragments.recipient_tenant_id,
        fragments.request,
        fragments."end" - fragments."start" AS code_points,
        len(fragments.sources) AS possible_sources,
        coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict
    FROM fragments
    LEFT JOIN verdicts USING (fragment_id)
)
SELECT
    source_tenant_id,
    recipient_tenant_id,
    verdict,
    count(DISTINCT request) AS responses,
    count(*) AS fragments,
    CAST(sum(code_points) AS BIGINT) AS code_points,
    count(*) FILTER (WHERE possible_sources > 1) AS fragments_with_several_sources
FROM named
GROUP BY source_tenant_id, recipient_tenant_id, verdict
ORDER BY source_tenant_id, recipient_tenant_id NULLS LAST, verdict
