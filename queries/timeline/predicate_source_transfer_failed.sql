-- question: had the transfer of the source between prefill and decode failed?
-- inputs:   leak_pairs, engine_events, engine_rids
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where no log of a transfer is there.
INSERT INTO pair_facts BY NAME
WITH failed AS (
    SELECT DISTINCT i.request
    FROM engine_events AS e
    INNER JOIN engine_rids AS i ON i.rid = e.request_id
    WHERE e.kind = 'transfer_failed'
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'source_transfer_failed' AS predicate,
    bool_or(CASE WHEN t.told THEN f.request IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN failed AS f ON f.request = p.source
CROSS JOIN (
    SELECT count(*) > 0 AS told
    FROM engine_events
    WHERE kind IN ('transfer_failed', 'context_corruption')
) AS t
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
