-- question: what is the number of the next record?
-- inputs:   records
-- grain:    one row
-- parameters: none
-- order:    none
SELECT coalesce(max(record) + 1, 0)
FROM records
