-- question: which categories of one tenant's own text surfaced elsewhere, in how many fragments, and who checked?
-- inputs:   fragment_categories, fragments, verdicts
-- grain:    one row per category
-- parameters: tenant (a tenant id)
-- order:    category
SELECT
    c.category,
    count(DISTINCT c.fragment_id) AS fragments,
    count(DISTINCT c.fragment_id) FILTER (WHERE v.verdict = 'confirmed') AS confirmed_fragments,
    count(DISTINCT c.fragment_id) FILTER (WHERE c.checked = 'yes') AS checked_fragments,
    list_sort(list_distinct(list(c.detector))) AS detectors,
    max(c.score) AS best_score
FROM fragment_categories AS c
INNER JOIN fragments AS f ON f.fragment_id = c.fragment_id
INNER JOIN verdicts AS v ON v.fragment_id = c.fragment_id
WHERE list_contains(f.sources, $tenant) AND v.verdict IN ('confirmed', 'probable')
GROUP BY c.category
ORDER BY c.category
