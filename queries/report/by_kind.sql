-- question: which kinds of fragments are there, with which verdicts?
-- inputs:   fragments, verdicts
-- grain:    one row per kind
-- parameters: none
-- order:    kind
SELECT
    f.kind,
    count(*) FILTER (WHERE v.verdict = 'confirmed') AS confirmed,
    count(*) FILTER (WHERE v.verdict = 'probable') AS probable,
    count(*) FILTER (WHERE v.verdict = 'possible') AS possible,
    count(*) FILTER (WHERE v.verdict = 'undetermined') AS undetermined,
    count(*) FILTER (WHERE v.verdict = 'excluded') AS excluded
FROM fragments AS f
INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
GROUP BY f.kind
ORDER BY f.kind
