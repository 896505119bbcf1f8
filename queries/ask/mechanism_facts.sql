-- question: which facts tie source and recipient together more often than chance, for probable leaks and apart for possible ones?
-- inputs:   predicate_tests
-- grain:    one row per fact and level
-- parameters: none
-- order:    probable first; then rank, corrected p-value, fact
-- empty:    no fact was tested: no leak is probable, or the timeline has not run
SELECT
    level,
    predicate,
    unit,
    status,
    rank,
    leaks_with,
    leaks,
    controls_with,
    controls,
    unknown,
    odds_ratio,
    low,
    high,
    p_value,
    p_holm,
    p_beyond,
    finding
FROM predicate_tests
ORDER BY level DESC, rank NULLS LAST, p_holm NULLS LAST, predicate
