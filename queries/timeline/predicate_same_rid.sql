-- question: did the engine know source and recipient under one request id, in flight together or one after the other?
-- inputs:   leak_pairs, engine_rids, joined_requests
-- grain:    one row per set, leak or control, and fact (same_rid_overlapping, same_rid_later)
-- parameters: none
-- order:    none (INSERT)
-- Null where the engine's id of either is not known.
INSERT INTO pair_facts BY NAME
WITH asked AS (
    SELECT unnest(['same_rid_overlapping', 'same_rid_later']) AS predicate
),
ids AS (
    SELECT request, list(rid) AS rids
    FROM engine_rids
    GROUP BY request
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    w.predicate,
    bool_or(
        CASE
            WHEN s.rids IS NULL OR r.rids IS NULL THEN NULL
            WHEN w.predicate = 'same_rid_later'
                THEN list_has_any(s.rids, r.rids) AND coalesce(js.finished_at <= jr.received_at, false)
            ELSE list_has_any(s.rids, r.rids)
                AND coalesce(js.received_at < jr.finished_at AND jr.received_at < js.finished_at, false)
        END
    ) AS holds
FROM leak_pairs AS p
CROSS JOIN asked AS w
INNER JOIN joined_requests AS js ON js.request = p.source
INNER JOIN joined_requests AS jr ON jr.request = p.recipient
LEFT JOIN ids AS s ON s.request = p.source
LEFT JOIN ids AS r ON r.request = p.recipient
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control, w.predicate
