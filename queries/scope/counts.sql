-- question: how many responses, tenants, requests, fragments and characters, at each level of certainty?
-- inputs:   fragments, verdicts, appearances, joined_requests
-- grain:    one row per figure
-- parameters: none
-- order:    name
WITH judged AS (
    SELECT
        f.fragment_id,
        f.request,
        f.recipient_tenant_id,
        f.field,
        f."start",
        f."end",
        f.sources,
        CASE v.verdict WHEN 'confirmed' THEN 1 WHEN 'probable' THEN 2 WHEN 'possible' THEN 3 WHEN 'excluded' THEN 5 ELSE 4 END AS strength
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
),
levels (level, strongest, weakest, meaning) AS (
    VALUES
        ('confirmed', 1, 1, 'fragments with verdict confirmed'),
        ('probable_or_better', 1, 2, 'fragments with verdict confirmed or probable'),
        ('possible_or_better', 1, 3, 'fragments with verdict confirmed, probable or possible'),
        ('undetermined', 4, 4, 'fragments with verdict undetermined, counted apart'),
        ('excluded', 5, 5, 'fragments that a person rejected, counted nowhere else')
),
at_level AS (
    SELECT
        l.level,
        l.meaning,
        j.*,
        max(j."end") OVER (
            PARTITION BY l.level, j.request, j.field
            ORDER BY j."start", j."end", j.fragment_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached
    FROM levels AS l
    INNER JOIN judged AS j ON j.strength BETWEEN l.strongest AND l.weakest
),
recipient_counts AS (
    SELECT
        level,
        count(DISTINCT request) AS responses,
        count(DISTINCT recipient_tenant_id) AS recipient_tenants,
        count(*) AS fragments,
        sum(greatest(0, "end" - greatest("start", coalesce(reached, "start"))))::BIGINT AS characters
    FROM at_level
    GROUP BY level
),
named AS (
    SELECT
        level,
        fragment_id,
        len(sources) = 1 AS alone,
        unnest(list_distinct(sources)) AS tenant_id
    FROM at_level
),
own_source AS (
    SELECT
        fragment_id,
        source_tenant_id,
        arg_min(request, rank) AS source_request
    FROM appearances
    WHERE source_tenant_id IS NOT NULL
    GROUP BY fragment_id, source_tenant_id
),
source_counts AS (
    SELECT
        n.level,
        count(DISTINCT n.tenant_id) AS source_tenants,
        count(DISTINCT n.tenant_id) FILTER (WHERE n.alone) AS source_tenants_named_alone,
        count(DISTINCT s.source_request) AS source_requests
    FROM named AS n
    LEFT JOIN own_source AS s ON s.fragment_id = n.fragment_id AND s.source_tenant_id = n.tenant_id
    GROUP BY n.level
),
totals AS (
    SELECT
        count(*) AS requests,
        count(DISTINCT tenant_id) AS tenants
    FROM joined_requests
),
figures AS (
    SELECT
        l.level,
        l.meaning,
        coalesce(r.responses, 0) AS responses,
        coalesce(r.recipient_tenants, 0) AS recipient_tenants,
        coalesce(r.fragments, 0) AS fragments,
        coalesce(r.characters, 0) AS foreign_characters,
        coalesce(s.source_tenants, 0) AS source_tenants,
        coalesce(s.source_tenants_named_alone, 0) AS source_tenants_named_alone,
        coalesce(s.source_requests, 0) AS source_requests,
        t.requests,
        t.tenants
    FROM levels AS l
    CROSS JOIN totals AS t
    LEFT JOIN recipient_counts AS r ON r.level = l.level
    LEFT JOIN source_counts AS s ON s.level = l.level
)
SELECT
    'responses.' || level AS name,
    responses AS n,
    requests AS total,
    'distinct recipient requests of ' || meaning || '; total: requests in the evidence' AS method
FROM figures
UNION ALL
SELECT
    'recipient_tenants.' || level,
    recipient_tenants,
    tenants,
    'distinct recipient tenants of ' || meaning || '; total: tenants in the evidence'
FROM figures
UNION ALL
SELECT
    'source_tenants.' || level,
    source_tenants,
    tenants,
    'distinct tenants in the sources of ' || meaning || ', members of sets included; total: tenants in the evidence'
FROM figures
UNION ALL
SELECT
    'source_tenants_named_alone.' || level,
    source_tenants_named_alone,
    tenants,
    'distinct tenants that are the only source of ' || meaning || '; total: tenants in the evidence'
FROM figures
UNION ALL
SELECT
    'source_requests.' || level,
    source_requests,
    requests,
    'best-ranked source request per fragment and named tenant, of ' || meaning || '; total: requests in the evidence'
FROM figures
UNION ALL
SELECT
    'fragments.' || level,
    fragments,
    NULL,
    meaning
FROM figures
UNION ALL
SELECT
    'foreign_characters.' || level,
    foreign_characters,
    NULL,
    'code points covered by ' || meaning || '; overlaps counted once'
FROM figures
ORDER BY name
