-- question: why was what rejected in each file?
-- inputs:   rejects
-- grain:    one row per file x reason
-- parameters: none
-- order:    evidence, reason
SELECT evidence, reason, count(*) AS rejected
FROM rejects
GROUP BY evidence, reason
ORDER BY evidence, reason
