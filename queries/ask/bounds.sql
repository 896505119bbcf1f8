-- question: how many responses are affected at least and at most, by which method and on which assumption?
-- inputs:   numbers
-- grain:    one row per estimate, measured or not
-- parameters: none
-- order:    from what was found to what may have been missed
-- empty:    never: an estimate that was not made says why
WITH estimates (place, estimate, name, assumption) AS (
    VALUES
        (1, 'confirmed', 'responses.confirmed', 'a person accepted it or a replay reproduced it'),
        (2, 'found: confirmed or probable', 'responses.probable_or_better', 'the rules of attribution'),
        (3, 'lower bound', 'lower_bound.responses', 'the q-values hold, or a person was right'),
        (4, 'share of planted leaks that was found', 'recall', 'real leaks are like the planted ones'),
        (5, 'upper bound by recall', 'upper_bound.responses', 'real leaks are like the planted ones; what could not be examined is like what could'),
        (6, 'found, and all that could not be examined', 'upper_bound.unexamined_all', 'nothing was missed in what was examined'),
        (7, 'two detectors (capture-recapture)', 'controls.capture_recapture.responses.all', 'they fail independently; else it is too low'),
        (8, 'silent responses that a person read', 'controls.elusion.responses.all', 'the readers see every leak')
)
SELECT
    e.estimate,
    n.value,
    n.n,
    n.total,
    n.low,
    n.high,
    e.assumption,
    coalesce(
        n.method,
        CASE WHEN (SELECT count(*) FROM numbers) = 0 THEN 'not computed: `forensics scope CASE` has not run'
            ELSE 'not measured: `forensics controls CASE` measures it, then `forensics scope CASE`' END
    ) AS method
FROM estimates AS e
LEFT JOIN numbers AS n ON n.name = e.name
ORDER BY e.place
