-- question: which rows of `requests` go to out/requests.parquet?
-- inputs:   requests
-- grain:    as the table
-- parameters: none
-- order:    key
SELECT *
FROM requests
ORDER BY key
