-- question: did the engine itself report of the recipient that metadata or output went astray?
-- inputs:   leak_pairs, engine_events, engine_rids
-- grain:    one row per set, leak or control, and fact (metadata_collision, output_without_state)
-- parameters: none
-- order:    none (INSERT)
-- Null where no line is there of a log that would have held the report: of a transfer, or of the engine's batches.
INSERT INTO pair_facts BY NAME
WITH asked AS (
    SELECT 'metadata_collision' AS predicate, 'context_corruption' AS report, ['transfer_failed'] AS beside
    UNION ALL
    SELECT 'output_without_state', 'output_without_state', ['prefill_batch', 'decode_batch']
),
reported AS (
    SELECT DISTINCT w.predicate, i.request
    FROM engine_events AS e
    INNER JOIN asked AS w ON w.report = e.kind
    INNER JOIN engine_rids AS i ON i.rid = e.request_id
),
told AS (
    SELECT DISTINCT w.predicate
    FROM engine_events AS e
    INNER JOIN asked AS w ON e.kind = w.report OR list_contains(w.beside, e.kind)
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    w.predicate,
    bool_or(CASE WHEN t.predicate IS NOT NULL THEN f.request IS NOT NULL END) AS holds
FROM leak_pairs AS p
CROSS JOIN asked AS w
LEFT JOIN told AS t ON t.predicate = w.predicate
LEFT JOIN reported AS f ON f.request = p.recipient AND f.predicate = w.predicate
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control, w.predicate
