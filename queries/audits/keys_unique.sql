-- question: (audit) which keys that must be unique are not?
-- inputs:   contents, request_contents, appearances
-- grain:    one row per repeated key
-- parameters: none
-- order:    subject, problem
-- Request ids are no such key: honest evidence reuses them (two tenants, a retry); `repeated-ids` lists those.
SELECT 'content ' || min(content) AS subject, count(*) || ' contents share its digest' AS problem
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
