-- question: whose text reached whom, over the fragments that are probable or better?
-- inputs:   fragments, verdicts
-- grain:    one row per source tenant (null: none in the evidence) and recipient tenant
-- parameters: none
-- order:    fragments falling, source, recipient
WITH strong AS (
    SELECT
        f.fragment_id,
        f.request,
        f.recipient_tenant_id,
        f."end" - f."start" AS characters,
        f.sources,
        v.verdict
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict IN ('confirmed', 'probable')
),
pairs AS (
    SELECT
        *,
        unnest(CASE WHEN len(sources) = 0 THEN [NULL] ELSE list_distinct(sources) END) AS source_tenant_id
    FROM strong
)
SELECT
    source_tenant_id,
    recipient_tenant_id,
    count(*) AS fragments,
    count(DISTINCT request) AS responses,
    sum(characters)::BIGINT AS characters,
    count(*) FILTER (WHERE len(sources) > 1) AS one_of_several,
    count(*) FILTER (WHERE verdict = 'confirmed') AS confirmed
FROM pairs
GROUP BY source_tenant_id, recipient_tenant_id
ORDER BY fragments DESC, source_tenant_id NULLS LAST, recipient_tenant_id NULLS LAST
