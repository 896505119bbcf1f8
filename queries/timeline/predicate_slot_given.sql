-- question: did the source take over its slot directly from the recipient?
-- inputs:   leak_pairs, residencies, slot_neighbours
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the slot of either is not known.
INSERT INTO pair_facts BY NAME
WITH known AS (
    SELECT DISTINCT request
    FROM slot_neighbours
),
handed AS (
    SELECT DISTINCT next AS source, request AS recipient
    FROM slot_neighbours
    WHERE next <> request
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'slot_given' AS predicate,
    bool_or(CASE WHEN s.request IS NULL OR r.request IS NULL THEN NULL ELSE h.source IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN known AS s ON s.request = p.source
LEFT JOIN known AS r ON r.request = p.recipient
LEFT JOIN handed AS h ON h.source = p.source AND h.recipient = p.recipient
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
