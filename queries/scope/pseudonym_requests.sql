-- question: which requests need a pseudonym?
-- inputs:   fragments, appearances
-- grain:    one row per request that takes part in a fragment
-- parameters: none
-- order:    request_id
SELECT recipient_request_id AS request_id FROM fragments
UNION
SELECT source_request_id FROM appearances
ORDER BY request_id
