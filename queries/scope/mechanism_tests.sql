-- question: what came of each hypothesis, for the list of figures?
-- inputs:   mechanism_tests
-- grain:    one row per hypothesis
-- parameters: none
-- order:    hypothesis
SELECT hypothesis, title, status, rank, class, predicate, finding
FROM mechanism_tests
ORDER BY substr(hypothesis, 2)::INTEGER
