-- question: (audit) which vantages and joined requests lack their other half, or their evidence?
-- inputs:   requests, joined_requests, evidence
-- grain:    one row per orphan
-- parameters: none
-- order:    subject, problem
SELECT 'requests.key ' || requests.key AS subject, 'has no joined request' AS problem
FROM requests
ANTI JOIN joined_requests USING (request)
UNION ALL
SELECT 'request ' || joined_requests.request, 'has no vantage'
FROM joined_requests
ANTI JOIN requests USING (request)
UNION ALL
SELECT 'requests.key ' || requests.key, 'has no evidence file'
FROM requests
ANTI JOIN evidence USING (evidence)
ORDER BY subject, problem
