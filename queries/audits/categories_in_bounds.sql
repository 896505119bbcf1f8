-- question: (audit) which labels are of no known category, or lie outside their fragment?
-- inputs:   fragment_categories, fragments
-- grain:    one row per bad label
-- parameters: none
-- order:    subject, problem
SELECT DISTINCT 'fragment ' || c.fragment_id AS subject, 'has a label that does not lie in it' AS problem
FROM fragment_categories AS c
INNER JOIN fragments AS f ON f.fragment_id = c.fragment_id
WHERE c."start" < f."start" OR c."end" > f."end" OR c."start" >= c."end"
UNION
SELECT 'fragment ' || c.fragment_id, 'has a label of no known category'
FROM fragment_categories AS c
WHERE c.category NOT IN (
    'credential', 'email', 'phone', 'payment', 'government_id', 'account_id', 'health', 'special_category', 'child', 'code',
    'not_classified', 'none'
)
ORDER BY subject, problem
