-- question: which candidate sources does one fragment have, the best first?
-- inputs:   appearances, joined_requests
-- grain:    one row per appearance
-- parameters: fragment
-- order:    rank
SELECT
    appearances.rank,
    appearances.source_request_id,
    appearances.source_tenant_id,
    appearances.side,
    appearances.field,
    appearances."start",
    appearances."end",
    appearances.similarity,
    appearances.raw_identity,
    appearances.named,
    appearances.lag_us,
    appearances.same_worker,
    appearances.overlapped,
    appearances.content,
    joined_requests.worker,
    joined_requests.received_at
FROM appearances
LEFT JOIN joined_requests USING (request)
WHERE appearances.fragment_id = $fragment
ORDER BY appearances.rank, appearances.source_request_id, appearances.field, appearances."start"
