-- question: what did each of these calls send, and where in the request did each text stand?
-- inputs:   request_contents, requests, contents
-- grain:    one row per text of a prompt, of the vantage that tells it best
-- parameters: requests (list)
-- order:    request, ordinal, field
-- The engine's own prompt text is what its model read; else the messages as the gateway saw them.
WITH uses AS (
    SELECT u.request, u.key, q.vantage, u.field, u.role, u.ordinal, u.content
    FROM request_contents AS u
    INNER JOIN requests AS q ON q.key = u.key
    WHERE u.side = 'prompt' AND list_contains($requests, u.request)
),
chosen AS (
    SELECT
        request,
        arg_min(
            CASE WHEN role = 'prompt' THEN 'prompt' ELSE 'messages' END,
            list_position(['engine', 'gateway', 'client'], vantage) + CASE WHEN role = 'prompt' THEN 0 ELSE 10 END
        ) AS form
    FROM uses
    GROUP BY request
)
SELECT u.request, u.field, u.role, u.ordinal, u.content, t.text
FROM uses AS u
INNER JOIN chosen AS c ON c.request = u.request AND (c.form = 'prompt') = (u.role = 'prompt')
INNER JOIN contents AS t ON t.content = u.content
ORDER BY u.request, u.ordinal, u.field, u.key
