-- question: when was the first and the last affected response received, and by which request?
-- inputs:   affected_requests
-- grain:    one row per end of the window
-- parameters: none
-- order:    name
WITH ends AS (
    SELECT
        min(received_at) AS first_at,
        max(received_at) AS last_at,
        arg_min(request_id, (received_at, request)) AS first_request,
        arg_max(request_id, (received_at, request)) AS last_request
    FROM affected_requests
    WHERE listed = 'affected' AND received_at IS NOT NULL
)
SELECT
    'window.first_at' AS name,
    strftime(first_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS value,
    'receive time of the first affected response (probable or better)' AS method
FROM ends
UNION ALL
SELECT
    'window.first_request',
    first_request,
    'request that fixes the start of the window; no deploy, fix or flush is in these logs'
FROM ends
UNION ALL
SELECT
    'window.last_at',
    strftime(last_at, '%Y-%m-%dT%H:%M:%S.%fZ'),
    'receive time of the last affected response (probable or better)'
FROM ends
UNION ALL
SELECT
    'window.last_request',
    last_request,
    'request that fixes the end of the window; no deploy, fix or flush is in these logs'
FROM ends
ORDER BY name
