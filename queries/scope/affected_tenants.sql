-- question: which tenants received foreign text or had theirs surface, and must they be told?
-- inputs:   fragments, verdicts, appearances, joined_requests, fragment_categories
-- grain:    one row per tenant that takes part in a fragment that is not excluded
-- parameters: none
-- order:    none (INSERT)
-- Only fragments that are probable or better count for a tenant that has any; a tenant with weaker ones alone is listed
-- with those and is not notified. A tenant is a source only through `sources`; a member of a set of sources is never
-- more than probable, because it is not known which member supplied the text. One source request counts per fragment:
-- the best-ranked one of that tenant.
INSERT INTO affected_tenants BY NAME
WITH judged AS (
    SELECT
        f.fragment_id,
        f.request,
        f.recipient_tenant_id,
        f.field,
        f."start",
        f."end",
        f.kind,
        f.sources,
        v.verdict
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict <> 'excluded'
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
named AS (
    SELECT
        *,
        unnest(list_distinct(sources)) AS tenant_id
    FROM judged
),
parts AS (
    SELECT
        recipient_tenant_id AS tenant_id,
        'recipient' AS role,
        fragment_id,
        request,
        NULL::BIGINT AS source_request,
        field,
        "start",
        "end",
        kind,
        verdict
    FROM judged
    WHERE recipient_tenant_id IS NOT NULL
    UNION ALL
    SELECT
        n.tenant_id,
        'source' AS role,
        n.fragment_id,
        n.request,
        s.source_request,
        n.field,
        n."start",
        n."end",
        n.kind,
        CASE WHEN n.verdict = 'confirmed' AND len(n.sources) > 1 THEN 'probable' ELSE n.verdict END AS verdict
    FROM named AS n
    LEFT JOIN own_source AS s ON s.fragment_id = n.fragment_id AND s.source_tenant_id = n.tenant_id
),
counted AS (
    SELECT
        *,
        verdict IN ('confirmed', 'probable') AS strong,
        CASE verdict WHEN 'confirmed' THEN 1 WHEN 'probable' THEN 2 WHEN 'possible' THEN 3 ELSE 4 END AS strength,
        max("end") OVER (
            PARTITION BY tenant_id, request, field, verdict IN ('confirmed', 'probable')
            ORDER BY "start", "end", fragment_id, role
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached
    FROM parts
    QUALIFY strong = bool_or(strong) OVER (PARTITION BY tenant_id)
),
labelled AS (
    SELECT
        fragment_id,
        list(DISTINCT category) AS categories
    FROM fragment_categories
    GROUP BY fragment_id
)
SELECT
    c.tenant_id,
    CASE
        WHEN bool_or(c.role = 'source') AND bool_or(c.role = 'recipient') THEN 'both'
        ELSE any_value(c.role)
    END AS role,
    CASE min(c.strength) WHEN 1 THEN 'yes' WHEN 2 THEN 'review' ELSE 'no' END AS notify,
    arg_min(c.verdict, c.strength) AS verdict,
    count(DISTINCT c.request) FILTER (WHERE c.role = 'recipient') AS requests_as_recipient,
    count(DISTINCT c.source_request) AS requests_as_source,
    count(DISTINCT c.fragment_id) AS fragments,
    sum(greatest(0, c."end" - greatest(c."start", coalesce(c.reached, c."start"))))::BIGINT AS foreign_chars,
    min(j.received_at) AS first_at,
    max(j.received_at) AS last_at,
    list_sort(list_distinct(flatten(list(coalesce(l.categories, ['not_classified']))))) AS categories
FROM counted AS c
LEFT JOIN joined_requests AS j ON j.request = c.request
LEFT JOIN labelled AS l ON l.fragment_id = c.fragment_id
GROUP BY c.tenant_id
