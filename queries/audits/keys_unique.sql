-- question: (audit) which keys that must be unique are not?
-- inputs:   joined_requests, contents, request_contents, appearances
-- grain:    one row per repeated key
-- parameters: none
-- order:    subject, problem
SELECT 'request_id of request ' || min(request) AS subject, count(*) || ' joined requests share it' AS problem
FROM joined_requests
GROUP BY request_id
HAVING count(*) > 1
UNION ALL
SELECT 'content ' || min(content), count(*) || ' contents share its digest'
FROM contents
GROUP BY digest
HAVING count(*) > 1
UNION ALL
SELECT 'requests.key ' || key || ' ' || side || ' ' || field, count(*) || ' texts stand in one field'
FROM request_contents
GROUP BY key, side, field
HAVING count(*) > 1
UNION ALL
SELECT 'fragment ' || fragment_id, count(*) || ' appearances have rank ' || rank
FROM appearances
GROUP BY fragment_id, rank
HAVING count(*) > 1
ORDER BY subject, problem
