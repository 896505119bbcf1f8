-- question: was the whole response swapped, a tail appended, a piece spliced in, or text altered?
-- inputs:   fragments, verdicts, contents
-- grain:    one row per shape and verdict
-- parameters: none
-- order:    fragments (most first), shape, verdict
-- empty:    no foreign text was found, so it has no shape
-- By the place of the fragment in its field; a few code points at an edge (5) are taken for the edge itself. Where to look
-- first is a rule of thumb, no test: `ask mechanisms` tests.
WITH placed AS (
    SELECT
        f.request,
        f."end" - f."start" AS code_points,
        coalesce(v.verdict, f.machine_verdict) AS verdict,
        CASE
            WHEN f.kind = 'whole_response' OR (f."start" <= 5 AND f."end" >= c.code_points - 5) THEN 'whole response'
            WHEN f.kind = 'altered' THEN 'altered copy'
            WHEN f.kind IN ('identifier', 'structure') THEN 'single words or keys'
            WHEN f."start" <= 5 THEN 'at the beginning'
            WHEN f."end" >= c.code_points - 5 THEN 'at the end'
            ELSE 'in the middle'
        END AS shape
    FROM fragments AS f
    INNER JOIN contents AS c ON c.content = f.content
    LEFT JOIN verdicts AS v ON v.fragment_id = f.fragment_id
),
meanings (shape, look_first) AS (
    VALUES
        ('whole response', 'the way of finished answers: gateway, cache of answers, hand-over between processes'),
        ('at the beginning', 'what the request found when it came: prefix cache, slot of a former request'),
        ('at the end', 'what came after its own text: output of a slot or stream that was not cut off'),
        ('in the middle', 'memory that others wrote meanwhile: key-value pages, batches, interleaved streams'),
        ('altered copy', 'the model read it: context that holds another prompt'),
        ('single words or keys', 'the model read it: context that holds another prompt')
)
SELECT
    p.shape,
    p.verdict,
    count(*) AS fragments,
    sum(count(*)) OVER ()::BIGINT AS of_fragments,
    count(DISTINCT p.request) AS responses,
    sum(p.code_points)::BIGINT AS code_points,
    any_value(m.look_first) AS look_first
FROM placed AS p
INNER JOIN meanings AS m ON m.shape = p.shape
GROUP BY p.shape, p.verdict
ORDER BY fragments DESC, p.shape, p.verdict
