-- question: which workers need a pseudonym?
-- inputs:   joined_requests, residencies
-- grain:    one row per worker
-- parameters: none
-- order:    worker
SELECT worker FROM joined_requests WHERE worker IS NOT NULL
UNION
SELECT worker FROM residencies
ORDER BY worker
