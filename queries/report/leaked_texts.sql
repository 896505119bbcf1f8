-- question: which passages must stand in no file that leaves the house?
-- inputs:   fragments, appearances, contents
-- grain:    one row per passage: of a fragment, or of a named appearance
-- parameters: none
-- order:    fragment_id, content, start, end
WITH passages AS (
    SELECT fragment_id, content, "start", "end"
    FROM fragments
    UNION
    SELECT fragment_id, content, "start", "end"
    FROM appearances
    WHERE named
)
SELECT
    p.fragment_id,
    c.text,
    p."start",
    p."end"
FROM passages AS p
INNER JOIN contents AS c ON c.content = p.content
ORDER BY p.fragment_id, p.content, p."start", p."end"
