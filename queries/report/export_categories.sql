-- question: which categories of delicate content were seen in leaked text, and how many of the fragments did a person check?
-- inputs:   fragment_categories, verdicts
-- grain:    one row per category
-- parameters: none
-- order:    category
SELECT
    c.category,
    count(DISTINCT c.fragment_id) AS fragments,
    count(DISTINCT c.fragment_id) FILTER (WHERE c.checked = 'yes') AS checked
FROM fragment_categories AS c
INNER JOIN verdicts AS v ON v.fragment_id = c.fragment_id
WHERE v.verdict IN ('confirmed', 'probable', 'possible')
  AND c.category NOT IN ('none', 'not_classified')
GROUP BY c.category
ORDER BY c.category
