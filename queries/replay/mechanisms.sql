-- question: which hypotheses did the timeline keep?
-- inputs:   mechanism_tests
-- grain:    one row per hypothesis that stands, or that another one explains
-- parameters: none
-- order:    those that stand first, by rank
SELECT hypothesis, predicate, status
FROM mechanism_tests
WHERE status IN ('stands', 'explained')
ORDER BY status = 'stands' DESC, "rank" NULLS LAST, hypothesis
