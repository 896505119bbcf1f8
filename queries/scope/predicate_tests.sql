-- question: what are the figures of each fact that was tested on probable leaks?
-- inputs:   predicate_tests
-- grain:    one row per fact
-- parameters: none
-- order:    predicate
SELECT predicate, status, leaks_with, leaks, odds_ratio, low, high, finding
FROM predicate_tests
WHERE level = 'probable'
ORDER BY predicate
