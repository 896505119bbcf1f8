-- question: (audit) which stays in a worker end before they start, or belong to no request?
-- inputs:   residencies, joined_requests
-- grain:    one row per bad residency
-- parameters: none
-- order:    subject, problem
SELECT 'request ' || residencies.request AS subject, 'a residency ends before it starts' AS problem
FROM residencies
WHERE residencies."end" < residencies."start"
UNION ALL
SELECT 'request ' || residencies.request, 'a residency has no request'
FROM residencies
ANTI JOIN joined_requests USING (request)
ORDER BY subject, problem
