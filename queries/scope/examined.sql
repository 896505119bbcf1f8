-- question: how many requests are there, how many could be examined, and of how many others was nothing found?
-- inputs:   joined_requests, affected_requests
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    count(*) AS requests,
    count(*) FILTER (WHERE j.examinable) AS examined,
    count(*) FILTER (WHERE NOT j.examinable AND a.request IS NULL) AS unexamined_without_finding,
    count(*) FILTER (WHERE a.request IS NOT NULL) AS affected
FROM joined_requests AS j
LEFT JOIN affected_requests AS a ON a.request = j.request AND a.listed = 'affected'
