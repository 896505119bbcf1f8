-- question: which requests without foreign text share the slot, the passes or the prefix of a proven leak?
-- inputs:   exposures
-- grain:    one row per request and relation
-- parameters: none
-- order:    relations that stand as mechanism first; relation, received_at, request_id
-- empty:    no request shares a slot, a pass or a prefix with a proven leak, or these logs do not tell
SELECT
    request_id,
    tenant_id,
    received_at,
    worker,
    relation,
    shared,
    leaks,
    fragment_id,
    supported,
    examinable
FROM exposures
ORDER BY supported DESC, relation, received_at NULLS LAST, request_id, request
