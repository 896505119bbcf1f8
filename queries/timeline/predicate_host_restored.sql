-- question: was part of the recipient's cached prefix restored from the host tier, or from storage beyond it?
-- inputs:   leak_pairs, engine_events, engine_rids
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the engine does not tell the tiers of a hit.
INSERT INTO pair_facts BY NAME
WITH restored AS (
    SELECT DISTINCT i.request
    FROM engine_events AS e
    INNER JOIN engine_rids AS i ON i.rid = e.request_id
    WHERE e.kind = 'host_restored'
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'host_restored' AS predicate,
    bool_or(CASE WHEN t.told THEN f.request IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN restored AS f ON f.request = p.recipient
CROSS JOIN (
    SELECT count(*) > 0 AS told
    FROM engine_events
    WHERE kind = 'cache_tiers'
) AS t
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
