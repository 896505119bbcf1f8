-- question: which rows of `fault_window` go to out/fault_window.parquet?
-- inputs:   fault_window
-- grain:    as the table
-- parameters: none
-- order:    worker, bound
SELECT *
FROM fault_window
ORDER BY worker NULLS FIRST, bound
