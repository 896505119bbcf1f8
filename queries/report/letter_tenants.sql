-- question: who may get a letter, of which kind, and how is that customer addressed?
-- inputs:   joined_requests, affected_tenants, tenants, fragment_categories, fragments, verdicts
-- grain:    one row per tenant of the evidence, and per affected one
-- parameters: none
-- order:    tenant_id
-- kind: source, recipient, both; for the others clear (every request examined, no fragment, however weak) or
-- not_examined (some or all of them could not be); weak: only fragments weaker than probable, no letter.
-- legal_names, contacts, countries and languages are all that the tenants file gives: several may contradict.
WITH told AS (
    SELECT
        tenant_id,
        list_sort(list_distinct(list(legal_name) FILTER (WHERE legal_name IS NOT NULL))) AS legal_names,
        list_sort(list_distinct(list(contact) FILTER (WHERE contact IS NOT NULL))) AS contacts,
        list_sort(list_distinct(list(country) FILTER (WHERE country IS NOT NULL))) AS countries,
        list_sort(list_distinct(list(language) FILTER (WHERE language IS NOT NULL))) AS languages
    FROM tenants
    GROUP BY tenant_id
),
seen AS (
    SELECT
        tenant_id,
        count(*) AS requests,
        count(*) FILTER (WHERE examinable) AS examined
    FROM joined_requests
    WHERE tenant_id IS NOT NULL
    GROUP BY tenant_id
),
own AS (
    SELECT
        source.tenant_id,
        c.category,
        max(c.checked) AS checked
    FROM (SELECT fragment_id, unnest(list_distinct(sources)) AS tenant_id FROM fragments) AS source
    INNER JOIN verdicts AS v ON v.fragment_id = source.fragment_id
    INNER JOIN fragment_categories AS c ON c.fragment_id = source.fragment_id
    WHERE v.verdict IN ('confirmed', 'probable')
    GROUP BY source.tenant_id, c.category
),
labelled AS (
    SELECT
        tenant_id,
        list_sort(list(category || ':' || checked)) AS categories
    FROM own
    GROUP BY tenant_id
),
everybody AS (
    SELECT tenant_id FROM seen
    UNION
    SELECT tenant_id FROM affected_tenants
)
SELECT
    e.tenant_id,
    CASE
        WHEN a.notify IN ('yes', 'review') THEN a.role
        WHEN a.tenant_id IS NOT NULL THEN 'weak'
        WHEN s.examined = s.requests THEN 'clear'
        ELSE 'not_examined'
    END AS kind,
    coalesce(a.notify, 'no') AS notify,
    coalesce(a.verdict, 'nothing found') AS verdict,
    coalesce(s.requests, 0) AS requests,
    coalesce(s.examined, 0) AS examined,
    coalesce(t.legal_names, []) AS legal_names,
    coalesce(t.contacts, []) AS contacts,
    coalesce(t.countries, []) AS countries,
    coalesce(t.languages, []) AS languages,
    coalesce(l.categories, []) AS categories
FROM everybody AS e
LEFT JOIN seen AS s ON s.tenant_id = e.tenant_id
LEFT JOIN affected_tenants AS a ON a.tenant_id = e.tenant_id
LEFT JOIN told AS t ON t.tenant_id = e.tenant_id
LEFT JOIN labelled AS l ON l.tenant_id = e.tenant_id
ORDER BY e.tenant_id
