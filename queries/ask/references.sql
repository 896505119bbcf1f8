-- question: which public texts were given to the case, and how much was set aside because of each?
-- inputs:   reference_sets, exclusions
-- grain:    one row per reference
-- parameters: none
-- order:    name
-- empty:    no public texts were given to this case (`forensics reference add`)
SELECT
    sets.name,
    sets.sha256,
    sets.texts,
    sets.code_points,
    sets.rejected,
    count(dropped.request) AS runs_set_aside,
    count(DISTINCT dropped.request) AS requests
FROM reference_sets AS sets
LEFT JOIN exclusions AS dropped
    ON dropped.rule = 'public_text' AND ends_with(dropped.detail, 'the reference ' || sets.name)
GROUP BY sets.name, sets.sha256, sets.texts, sets.code_points, sets.rejected
ORDER BY sets.name
