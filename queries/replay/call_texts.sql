-- question: what did each of these calls send, and where in the request did each text stand?
-- inputs:   request_contents, requests, contents
-- grain:    one row per text of a prompt, of the one vantage that tells it best
-- parameters: requests (list)
-- order:    request, ordinal, field
-- A prompt that is one text is what a model read, the engine's own before others'; else the messages, in the same order.
WITH uses AS (
    SELECT u.request, u.key, q.vantage, u.field, u.role, u.ordinal, u.content
    FROM request_contents AS u
    INNER JOIN requests AS q ON q.key = u.key
    WHERE u.side = 'prompt' AND list_contains($requests, u.request)
),
chosen AS (
    SELECT key, role = 'prompt' AS native
    FROM uses
    QUALIFY row_number() OVER (
        PARTITION BY request
        ORDER BY role <> 'prompt', list_position(['engine', 'gateway', 'client'], vantage) NULLS LAST, key
    ) = 1
)
SELECT u.request, u.field, u.role, u.ordinal, u.content, t.text
FROM uses AS u
INNER JOIN chosen AS c ON c.key = u.key AND c.native = (u.role = 'prompt')
INNER JOIN contents AS t ON t.content = u.content
ORDER BY u.request, u.ordinal, u.field
