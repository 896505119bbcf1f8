-- question: which tokens did each call of a worker send, and get?
-- inputs:   requests, request_settings, record_settings, request_workers, joined_requests
-- grain:    one row per call
-- parameters: worker; first, last (the range of requests)
-- order:    request
-- A list that is not as long as the engine counted the prompt was cut, or is not all of it.
WITH told AS (
    SELECT q.request, min(s.input) AS input, max(s.output) AS output
    FROM request_settings AS s
    INNER JOIN requests AS q ON q.key = s.key
    INNER JOIN request_workers AS w ON w.request = q.request
    WHERE w.worker = $worker AND q.vantage = 'engine' AND q.request BETWEEN $first AND $last AND s.input IS NOT NULL
    GROUP BY q.request
)
SELECT t.request, p.input_ids AS prompt, coalesce(a.output_ids, []::INTEGER[]) AS answer
FROM told AS t
INNER JOIN joined_requests AS j ON j.request = t.request
INNER JOIN record_settings AS p ON p.record = t.input
LEFT JOIN record_settings AS a ON a.record = t.output
WHERE coalesce(j.prompt_tokens = len(p.input_ids), TRUE)
ORDER BY t.request
