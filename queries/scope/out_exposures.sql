-- question: which requests are exposed, for out/exposures.csv?
-- inputs:   exposures
-- grain:    one row per request and relation
-- parameters: none
-- order:    supported first; relation, received_at, request_id
SELECT
    request_id,
    tenant_id,
    strftime(received_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS received_at,
    worker,
    relation,
    shared,
    leaks,
    fragment_id,
    CASE WHEN supported THEN 'yes' ELSE 'no' END AS supported,
    CASE WHEN examinable THEN 'yes' ELSE 'no' END AS examined
FROM exposures
ORDER BY supported DESC, relation, received_at NULLS LAST, request_id, request
