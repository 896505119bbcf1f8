-- question: (effect) do the prompts of two calls agree, differ, or tell nothing?
-- inputs:   prompt_finds, open_pairs, request_rows
-- grain:    one row per pair of calls to ask
-- parameters: none
-- order:    none
-- Agree: what the caller wrote in the one (the texts that were asked for) stands in the other, in 24 code points or more, or
-- both ways. Differ: in neither way, though both logs hold the prompt in full. Else (no text, a cut, a few letters) they tell nothing.
CREATE OR REPLACE TEMP TABLE prompt_checks AS
WITH ways AS (
    SELECT near, far, texts_of, bool_and(found) AS contained, sum(code_points) AS code_points
    FROM prompt_finds
    GROUP BY near, far, texts_of
    HAVING count(found) = count(*)
),
told AS (
    SELECT near, far,
        bool_or(contained AND code_points >= 24) OR (bool_and(contained) AND count(*) = 2) AS agree,
        bool_or(contained) AS within
    FROM ways
    GROUP BY near, far
)
SELECT p.near, p.far,
    CASE
        WHEN t.agree THEN 'agree'
        WHEN NOT t.within AND n.prompt_state = 'full' AND f.prompt_state = 'full' THEN 'differ'
        ELSE 'unknown'
    END AS prompts
FROM open_pairs p
JOIN request_rows n ON n.key = p.near
JOIN request_rows f ON f.key = p.far
LEFT JOIN told t ON t.near = p.near AND t.far = p.far
WHERE p.ask_prompts
