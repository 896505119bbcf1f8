-- question: when were the first and the last affected responses, for each strength of evidence?
-- inputs:   affected_requests, joined_requests
-- grain:    one row per verdict
-- parameters: none
-- order:    verdict
-- empty:    no response is affected, so there is no window
SELECT
    affected_requests.verdict,
    count(*) AS requests,
    min(joined_requests.received_at) AS first_received_at,
    min(joined_requests.finished_at) AS first_finished_at,
    max(joined_requests.received_at) AS last_received_at,
    max(joined_requests.finished_at) AS last_finished_at
FROM affected_requests
JOIN joined_requests USING (request)
GROUP BY affected_requests.verdict
ORDER BY affected_requests.verdict
