-- question: which rows of `residencies` go to out/residencies.parquet?
-- inputs:   residencies
-- grain:    as the table
-- parameters: none
-- order:    request, worker, phase, start, end, slot
SELECT *
FROM residencies
ORDER BY request, worker, phase, "start", "end", slot
