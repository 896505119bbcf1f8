-- question: how were the slots of stays had, or why were they not?
-- inputs:   slot_derivations
-- grain:    one row per basis x reason
-- parameters: none
-- order:    basis, reason
SELECT
    basis,
    reason,
    count(DISTINCT worker) AS schedulers,
    sum(stays)::BIGINT AS stays,
    sum(given)::BIGINT AS given
FROM slot_derivations
GROUP BY basis, reason
ORDER BY basis, reason
