-- question: which rows of `cache_key_collisions` go to out/cache_key_collisions.parquet?
-- inputs:   cache_key_collisions
-- grain:    as the table
-- parameters: none
-- order:    worker, rule, first_request, second_request
SELECT *
FROM cache_key_collisions
ORDER BY worker, rule, first_request, second_request
