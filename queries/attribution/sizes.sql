-- question: how large is each text?
-- inputs:   contents
-- grain:    one row per distinct text
-- parameters: none
-- order:    content
SELECT
    content,
    bytes,
    code_points
FROM contents
ORDER BY content
