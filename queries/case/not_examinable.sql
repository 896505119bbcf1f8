-- question: how many requests cannot be examined, for want of what?
-- inputs:   joined_requests
-- grain:    one row per reason
-- parameters: none
-- order:    requests descending, reason
SELECT examinable_reason AS reason, count(*) AS requests
FROM joined_requests
WHERE NOT examinable
GROUP BY examinable_reason
ORDER BY requests DESC, reason
