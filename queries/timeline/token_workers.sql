-- question: on which workers are the tokens of every prompt known of which anything is known?
-- inputs:   requests, request_settings, record_settings, request_workers, joined_requests
-- grain:    one row per worker
-- parameters: none
-- order:    worker
-- Tokens and texts cannot be compared with each other: where some calls have the one and some the other, the texts stand.
WITH told AS (
    SELECT
        q.request,
        bool_or(q.prompt_state = 'full') AS has_text,
        bool_or(p.input_ids IS NOT NULL AND coalesce(j.prompt_tokens = len(p.input_ids), TRUE)) AS has_tokens
    FROM requests AS q
    INNER JOIN joined_requests AS j ON j.request = q.request
    LEFT JOIN request_settings AS s ON s.key = q.key
    LEFT JOIN record_settings AS p ON p.record = s.input
    GROUP BY q.request
)
SELECT w.worker
FROM told AS t
INNER JOIN request_workers AS w ON w.request = t.request
WHERE t.has_text OR t.has_tokens
GROUP BY w.worker
HAVING bool_and(coalesce(t.has_tokens, FALSE))
ORDER BY w.worker
