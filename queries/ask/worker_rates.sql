-- question: on which workers and when were responses affected, out of how many?
-- inputs:   worker_rates
-- grain:    one row per worker x time bucket
-- parameters: none
-- order:    worker, bucket
SELECT worker, bucket, responses, affected, affected / nullif(responses, 0) AS share, basis
FROM worker_rates
ORDER BY worker, bucket
