-- question: how many persons and records are concerned, per category: known, estimated or unknown?
-- inputs:   fragment_categories, fragments, verdicts
-- grain:    one row per category, one for what no detector labelled, and one for persons
-- parameters: none
-- order:    place, category
-- empty:    no fragment is probable or better, so no record is concerned
-- A record is taken to be a fragment: a leaked passage may hold several, or a part of one. How many persons stand behind them
-- no log can know.
WITH strong AS (
    SELECT f.fragment_id, f.request
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict IN ('confirmed', 'probable')
),
labelled AS (
    SELECT
        c.category,
        count(DISTINCT c.fragment_id) AS fragments,
        count(DISTINCT c.fragment_id) FILTER (WHERE c.checked = 'yes') AS checked,
        count(DISTINCT s.request) AS responses
    FROM fragment_categories AS c
    INNER JOIN strong AS s ON s.fragment_id = c.fragment_id
    GROUP BY c.category
),
every_row AS (
    SELECT
        1 AS place,
        category,
        CASE
            WHEN category = 'not_classified' THEN 'unknown'
            WHEN checked = fragments THEN 'known'
            ELSE 'estimated'
        END AS status,
        fragments AS records,
        checked AS checked_by_a_person,
        responses,
        CASE
            WHEN category = 'not_classified' THEN 'no detector saw anything: that is no finding that nothing is there'
            WHEN checked = fragments THEN 'a person checked each'
            ELSE 'labels of detectors, not all of them checked by a person'
        END AS method
    FROM labelled
    UNION ALL
    SELECT 2, 'all records', 'known', count(*), NULL, count(DISTINCT request), 'fragments that are probable or better'
    FROM strong
    UNION ALL
    SELECT 3, 'persons', 'unknown_to_fill', NULL, NULL, count(DISTINCT request), 'no log says how many persons a text is about: the customer knows'
    FROM strong
)
SELECT category, status, records, checked_by_a_person, responses, method
FROM every_row
WHERE (SELECT count(*) FROM strong) > 0
ORDER BY place, category
