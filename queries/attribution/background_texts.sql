-- question: which texts, and how large, may serve as the case's background of ordinary language?
-- inputs:   contents, request_contents
-- grain:    one row per distinct text
-- parameters: none
-- order:    responses first, then content
WITH sides AS (
    SELECT
        content,
        max(side) AS side                    -- 'response' sorts after 'prompt'
    FROM request_contents
    GROUP BY content
)
SELECT
    sides.content,
    contents.bytes
FROM sides
INNER JOIN contents
    ON sides.content = contents.content
ORDER BY sides.side DESC, sides.content
