-- question: which candidate runs that touch a fragment were dropped, and by which rule?
-- inputs:   exclusions, fragments
-- grain:    one row per fragment x dropped run that overlaps it
-- parameters: none
-- order:    fragment_id, start, end, rule, detail
SELECT
    f.fragment_id,
    e.rule,
    e."start",
    e."end",
    e.holders,
    e.detail
FROM fragments AS f
INNER JOIN exclusions AS e
    ON e.request = f.request AND e.field = f.field AND e."start" < f."end" AND f."start" < e."end"
ORDER BY f.fragment_id, e."start", e."end", e.rule, e.detail
