-- question: which reviews and replays bear on the verdicts and the categories?
-- inputs:   reviews, category_reviews, replay_verdicts
-- grain:    one row per review, or per leak of a replay
-- parameters: none
-- order:    all columns
SELECT 'review' AS what, fragment_id, decision AS outcome, name AS detail, strftime("at", '%Y-%m-%dT%H:%M:%S.%f') AS moment
FROM reviews
UNION ALL
SELECT 'replay', fragment_id, verdict, because, plan_id
FROM replay_verdicts
UNION ALL
SELECT 'category', fragment_id, decision, category || ' ' || name, strftime("at", '%Y-%m-%dT%H:%M:%S.%f')
FROM category_reviews
ORDER BY what, fragment_id, moment, detail, outcome
