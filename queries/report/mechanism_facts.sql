-- question: what are the figures of each fact that could be tested?
-- inputs:   predicate_tests
-- grain:    one row per level and fact that was tested
-- parameters: none
-- order:    probable first; rank, corrected p-value, fact
SELECT level, predicate, status, leaks_with, leaks, controls_with, controls, odds_ratio, low, high, p_value, p_holm
FROM predicate_tests
WHERE leaks > 0
ORDER BY level DESC, rank NULLS LAST, p_holm NULLS LAST, predicate
