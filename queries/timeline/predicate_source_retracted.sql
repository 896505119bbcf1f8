-- question: had the source been retracted and scheduled again?
-- inputs:   leak_pairs, interrupted_requests, engine_events
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the logs name no retracted request at all.
INSERT INTO pair_facts BY NAME
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'source_retracted' AS predicate,
    bool_or(CASE WHEN e.told THEN i.request IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN interrupted_requests AS i ON i.request = p.source AND i.how = 'retracted'
CROSS JOIN (
    SELECT count(*) > 0 AS told
    FROM engine_events
    WHERE kind IN ('retraction', 'probe_retract') AND request_id IS NOT NULL
) AS e
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
