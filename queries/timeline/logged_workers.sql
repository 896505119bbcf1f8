-- question: on which schedulers does a log say who got which slot?
-- inputs:   slot_derivations
-- grain:    one row per worker
-- parameters: none
-- order:    worker
SELECT DISTINCT worker
FROM slot_derivations
WHERE basis = 'logged'
ORDER BY worker
