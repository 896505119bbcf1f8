-- question: did the slot go from source to recipient directly, from a source ended from outside, or the other way?
-- inputs:   leak_pairs, slot_neighbours, interrupted_requests
-- grain:    one row per set, leak or control, and fact (slot_reused, slot_reused_after_abort, slot_given)
-- parameters: none
-- order:    none (INSERT)
-- Null where the slot of either is not known.
INSERT INTO pair_facts BY NAME
WITH asked AS (
    SELECT unnest(['slot_reused', 'slot_reused_after_abort', 'slot_given']) AS predicate
),
known AS (
    SELECT DISTINCT request
    FROM slot_neighbours
),
handed AS (
    SELECT 'slot_reused' AS predicate, former AS source, request AS recipient
    FROM slot_neighbours
    WHERE former <> request
    UNION
    SELECT 'slot_reused_after_abort', t.former, t.request
    FROM slot_neighbours AS t
    INNER JOIN interrupted_requests AS i ON i.request = t.former
    WHERE t.former <> t.request
    UNION
    SELECT 'slot_given', next, request
    FROM slot_neighbours
    WHERE next <> request
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    w.predicate,
    bool_or(CASE WHEN s.request IS NULL OR r.request IS NULL THEN NULL ELSE h.source IS NOT NULL END) AS holds
FROM leak_pairs AS p
CROSS JOIN asked AS w
LEFT JOIN known AS s ON s.request = p.source
LEFT JOIN known AS r ON r.request = p.recipient
LEFT JOIN handed AS h ON h.source = p.source AND h.recipient = p.recipient AND h.predicate = w.predicate
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control, w.predicate
