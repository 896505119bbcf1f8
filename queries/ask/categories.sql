-- question: which categories of delicate content were seen in whose leaked text, by which detector, at what score, and did a person check?
-- inputs:   fragment_categories, fragments, verdicts
-- grain:    one row per fragment, category and detector
-- parameters: none
-- order:    fragment_id, category, detector
-- `not_classified` means that no detector saw anything: that is no finding that the text holds nothing delicate.
SELECT
    c.fragment_id,
    list_sort(f.sources) AS source_tenants,
    f.recipient_request_id,
    f.recipient_tenant_id,
    v.verdict,
    c.category,
    c.detector,
    max(c.score) AS score,
    count(*) AS places,
    min(c."start") AS "start",
    max(c."end") AS "end",
    max(c.checked) AS checked
FROM fragment_categories AS c
INNER JOIN fragments AS f ON f.fragment_id = c.fragment_id
INNER JOIN verdicts AS v ON v.fragment_id = c.fragment_id
GROUP BY ALL
ORDER BY c.fragment_id, c.category, c.detector
