-- question: what did each of these calls send, and get, in the order in which the engine reads it?
-- inputs:   requests, request_contents
-- grain:    one row per text of a call
-- parameters: requests (list)
-- order:    request, side, ordinal
-- From one vantage a call: the engine's, where it has the prompt whole. The engine's own `text` is the prompt as rendered;
-- of messages the template is unknown, so that role and line breaks stand for it in all calls alike.
WITH chosen AS (
    SELECT q.request, q.key
    FROM requests AS q
    WHERE q.prompt_state = 'full' AND q.request IN (SELECT unnest($requests))
    QUALIFY row_number() OVER (
        PARTITION BY q.request ORDER BY list_position(['engine', 'gateway', 'client'], q.vantage), q.key
    ) = 1
)
SELECT
    u.request,
    u.side = 'response' AS of_response,
    u.content,
    CASE WHEN u.side = 'prompt' AND u.field <> 'text' THEN u.role END AS role
FROM chosen AS k
INNER JOIN request_contents AS u ON u.key = k.key AND u.request = k.request
WHERE u.side = 'prompt' OR u.field = 'choices[0].content'
ORDER BY u.request, u.side, u.ordinal, u.field
