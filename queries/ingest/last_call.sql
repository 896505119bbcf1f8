-- question: which record is the last that names a call?
-- inputs:   record_groups
-- grain:    one row
-- parameters: none
-- order:    none
SELECT coalesce(max(call), -1) AS call
FROM record_groups
