-- question: which mechanism fits the leaks, which fell with what numbers, and what could not be tested?
-- inputs:   mechanism_tests, predicate_tests
-- grain:    one row per hypothesis of the catalogue
-- parameters: none
-- order:    those that stand first, by rank; then explained by these, fallen, ruled out, undecided, not testable; then hypothesis
-- empty:    no hypothesis was tested: the timeline has not run
SELECT
    m.hypothesis,
    m.title,
    m.status,
    m.rank,
    m.class,
    m.predicate,
    t.leaks_with,
    t.leaks,
    t.controls_with,
    t.controls,
    t.odds_ratio,
    t.low,
    t.high,
    t.p_value,
    m.p_holm,
    m.condition,
    m.finding,
    m.missing AS next_time,
    m.seen_in,
    m.source
FROM mechanism_tests AS m
LEFT JOIN predicate_tests AS t ON t.predicate = m.predicate AND t.level = 'probable'
ORDER BY
    list_position(['stands', 'explained', 'falls', 'ruled_out', 'undecided', 'not_testable', 'no_text'], m.status),
    m.rank NULLS LAST,
    substr(m.hypothesis, 2)::INTEGER
