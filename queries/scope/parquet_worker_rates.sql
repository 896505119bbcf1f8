-- question: which rows of `worker_rates` go to out/worker_rates.parquet?
-- inputs:   worker_rates
-- grain:    as the table
-- parameters: none
-- order:    worker, bucket
SELECT *
FROM worker_rates
ORDER BY worker, bucket
