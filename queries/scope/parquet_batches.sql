-- question: which rows of `batches` go to out/batches.parquet?
-- inputs:   batches
-- grain:    as the table
-- parameters: none
-- order:    batch, worker, iteration
SELECT *
FROM batches
ORDER BY batch, worker, iteration
