-- question: which rules dropped how many candidate runs?
-- inputs:   exclusions
-- grain:    one row per rule
-- parameters: none
-- order:    rule
SELECT
    rule,
    count(*) AS runs,
    count(DISTINCT request) AS requests
FROM exclusions
GROUP BY rule
ORDER BY rule
