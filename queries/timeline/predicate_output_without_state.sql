-- question: did the front end get output for the recipient's id after its state was deleted?
-- inputs:   leak_pairs, engine_events, engine_rids
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the engine's own log is not there.
INSERT INTO pair_facts BY NAME
WITH reported AS (
    SELECT DISTINCT i.request
    FROM engine_events AS e
    INNER JOIN engine_rids AS i ON i.rid = e.request_id
    WHERE e.kind = 'output_without_state'
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'output_without_state' AS predicate,
    bool_or(CASE WHEN t.told THEN f.request IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN reported AS f ON f.request = p.recipient
CROSS JOIN (
    SELECT count(*) > 0 AS told
    FROM engine_events
    WHERE kind IN ('output_without_state', 'prefill_batch', 'decode_batch')
) AS t
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
