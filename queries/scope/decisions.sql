-- question: which reviews and replay trials bear on the verdicts and the categories?
-- inputs:   reviews, category_reviews, trials
-- grain:    one row per review or trial
-- parameters: none
-- order:    all columns
SELECT 'review' AS what, fragment_id, decision AS outcome, name AS detail, strftime("at", '%Y-%m-%dT%H:%M:%S.%f') AS moment
FROM reviews
UNION ALL
SELECT 'category', fragment_id, decision, category || ' ' || name, strftime("at", '%Y-%m-%dT%H:%M:%S.%f')
FROM category_reviews
UNION ALL
SELECT 'trial', fragment_id, coalesce(verdict, ''), arm, trial::VARCHAR
FROM trials
ORDER BY what, fragment_id, moment, detail, outcome
