-- question: which requests received foreign text, how much of it, and whose?
-- inputs:   affected_requests
-- grain:    one row per recipient request
-- parameters: none
-- order:    received_at, request_id
-- empty:    no foreign text was found in what could be examined; that is no proof that nothing leaked
SELECT request_id, tenant_id, received_at, worker, verdict, fragments, foreign_chars, source_tenants, listed
FROM affected_requests
ORDER BY received_at NULLS LAST, request_id
