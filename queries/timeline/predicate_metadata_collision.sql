-- question: did the engine report that the recipient got the metadata of another transfer?
-- inputs:   leak_pairs, engine_events, engine_rids
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where no log of a transfer is there.
INSERT INTO pair_facts BY NAME
WITH reported AS (
    SELECT DISTINCT i.request
    FROM engine_events AS e
    INNER JOIN engine_rids AS i ON i.rid = e.request_id
    WHERE e.kind = 'context_corruption'
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'metadata_collision' AS predicate,
    bool_or(CASE WHEN t.told THEN f.request IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN reported AS f ON f.request = p.recipient
CROSS JOIN (
    SELECT count(*) > 0 AS told
    FROM engine_events
    WHERE kind IN ('transfer_failed', 'context_corruption')
) AS t
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
