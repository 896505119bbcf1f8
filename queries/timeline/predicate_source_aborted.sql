-- question: had the source been aborted or cancelled?
-- inputs:   leak_pairs, interrupted_requests, joined_requests
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the logs tell no way of ending of it.
INSERT INTO pair_facts BY NAME
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'source_aborted' AS predicate,
    bool_or(CASE WHEN i.request IS NOT NULL THEN true WHEN j.finish_reason IS NULL AND NOT e.told THEN NULL ELSE false END) AS holds
FROM leak_pairs AS p
INNER JOIN joined_requests AS j ON j.request = p.source
LEFT JOIN interrupted_requests AS i ON i.request = p.source AND i.how = 'aborted'
CROSS JOIN (
    SELECT count(*) > 0 AS told
    FROM engine_events
    WHERE kind IN ('abort', 'probe_abort', 'retraction', 'probe_retract', 'request_time_stats')
) AS e
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
