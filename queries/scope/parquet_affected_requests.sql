-- question: which rows of `affected_requests` go to out/affected_requests.parquet?
-- inputs:   affected_requests
-- grain:    as the table
-- parameters: none
-- order:    request
SELECT *
FROM affected_requests
ORDER BY request
