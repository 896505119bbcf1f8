-- question: did the recipient reuse the engine request id of the source after that had finished?
-- inputs:   leak_pairs, engine_rids, joined_requests
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the engine's id of either is not known.
INSERT INTO pair_facts BY NAME
WITH ids AS (
    SELECT request, list(rid) AS rids
    FROM engine_rids
    GROUP BY request
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'same_rid_later' AS predicate,
    bool_or(
        CASE
            WHEN s.rids IS NULL OR r.rids IS NULL THEN NULL
            ELSE list_has_any(s.rids, r.rids) AND coalesce(js.finished_at <= jr.received_at, false)
        END
    ) AS holds
FROM leak_pairs AS p
INNER JOIN joined_requests AS js ON js.request = p.source
INNER JOIN joined_requests AS jr ON jr.request = p.recipient
LEFT JOIN ids AS s ON s.request = p.source
LEFT JOIN ids AS r ON r.request = p.recipient
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
