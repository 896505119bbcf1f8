-- question: which candidate sources has each fragment, for out/fragments.jsonl?
-- inputs:   appearances
-- grain:    one row per fragment x candidate
-- parameters: none
-- order:    fragment_id, rank, source request, side, field, start
SELECT
    fragment_id,
    source_request_id,
    source_tenant_id,
    side,
    field,
    "start",
    "end",
    similarity,
    rank
FROM appearances
ORDER BY fragment_id, rank, source_request_id, side, field, "start", "end"
