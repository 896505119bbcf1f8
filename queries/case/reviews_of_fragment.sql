-- question: who decided what about one fragment?
-- inputs:   reviews
-- grain:    one row per decision
-- parameters: fragment
-- order:    at, name
SELECT "at", name, decision, reason
FROM reviews
WHERE fragment_id = $fragment
ORDER BY "at", name, decision
