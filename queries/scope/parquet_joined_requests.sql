-- question: which rows of `joined_requests` go to out/joined_requests.parquet?
-- inputs:   joined_requests
-- grain:    as the table
-- parameters: none
-- order:    request
SELECT *
FROM joined_requests
ORDER BY request
