-- question: which rows of `cache_hits` go to out/cache_hits.parquet?
-- inputs:   cache_hits
-- grain:    as the table
-- parameters: none
-- order:    request, worker
SELECT *
FROM cache_hits
ORDER BY request, worker
