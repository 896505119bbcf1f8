-- question: how many requests are there, and how many could be examined?
-- inputs:   joined_requests
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    count(*) AS requests,
    count(*) FILTER (WHERE examinable) AS examined
FROM joined_requests
