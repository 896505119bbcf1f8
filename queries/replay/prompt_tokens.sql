-- question: which tokens were the prompts of these calls, as their engine logged them?
-- inputs:   requests, request_settings, record_settings
-- grain:    one row per request whose engine logged its prompt's tokens
-- parameters: requests (list)
-- order:    request
WITH records AS (
    SELECT q.request, min(s.input) AS input
    FROM requests AS q
    INNER JOIN request_settings AS s ON s.key = q.key
    WHERE s.input IS NOT NULL AND list_contains($requests, q.request)
    GROUP BY q.request
)
SELECT c.request, r.input_ids
FROM records AS c
INNER JOIN record_settings AS r ON r.record = c.input
WHERE r.input_ids IS NOT NULL
ORDER BY c.request
