-- question: which rows of `slot_derivations` go to out/slot_derivations.parquet?
-- inputs:   slot_derivations
-- grain:    as the table
-- parameters: none
-- order:    worker, basis, reason, stays, given, checks, version
SELECT *
FROM slot_derivations
ORDER BY worker, basis, reason, stays, given, checks, version
