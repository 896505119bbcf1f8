-- question: what came of each hypothesis of the cause?
-- inputs:   mechanism_tests
-- grain:    one row per hypothesis
-- parameters: none
-- order:    those that stand first, by rank; then status, hypothesis
SELECT hypothesis, title, status, rank, class, finding, condition, missing, seen_in
FROM mechanism_tests
ORDER BY
    list_position(['stands', 'explained', 'falls', 'ruled_out', 'undecided', 'not_testable', 'no_text'], status),
    rank NULLS LAST,
    substr(hypothesis, 2)::INTEGER
