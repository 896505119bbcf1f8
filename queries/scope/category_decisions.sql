-- question: what did people last decide about labels of fragments that still exist?
-- inputs:   category_reviews, fragments, verdicts
-- grain:    one row per fragment and category
-- parameters: none
-- order:    fragment_id, category
SELECT
    r.fragment_id,
    r.category,
    r.decision,
    f."start",
    f."end"
FROM category_reviews AS r
INNER JOIN fragments AS f ON f.fragment_id = r.fragment_id
INNER JOIN verdicts AS v ON v.fragment_id = r.fragment_id
WHERE v.verdict <> 'excluded'
QUALIFY row_number() OVER (
    PARTITION BY r.fragment_id, r.category ORDER BY r."at" DESC, r.name DESC, r.decision DESC
) = 1
ORDER BY r.fragment_id, r.category
