-- question: were source and recipient in one forward pass, or seen running together; and in one prefill pass?
-- inputs:   leak_pairs, batch_members, batches
-- grain:    one row per set, leak or control, and fact (same_batch, same_prefill_batch)
-- parameters: none
-- order:    none (INSERT)
-- Null where no such pass of either is known.
INSERT INTO pair_facts BY NAME
WITH asked AS (
    SELECT unnest(['same_batch', 'same_prefill_batch']) AS predicate
),
members AS (
    SELECT source AS request
    FROM leak_pairs
    WHERE kind = 'source'
    UNION
    SELECT recipient
    FROM leak_pairs
    WHERE kind = 'source'
),
passes AS (
    SELECT DISTINCT w.predicate, b.request, b.batch
    FROM batch_members AS b
    INNER JOIN members AS m ON m.request = b.request
    INNER JOIN batches AS k ON k.batch = b.batch
    CROSS JOIN asked AS w
    WHERE CASE w.predicate WHEN 'same_batch' THEN k.kind <> 'other' ELSE k.kind IN ('prefill', 'mixed') END
),
known AS (
    SELECT DISTINCT predicate, request
    FROM passes
),
shared AS (
    SELECT DISTINCT a.predicate, p.source, p.recipient
    FROM leak_pairs AS p
    INNER JOIN passes AS a ON a.request = p.source
    INNER JOIN passes AS b ON b.request = p.recipient AND b.batch = a.batch AND b.predicate = a.predicate
    WHERE p.kind = 'source'
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
LEFT JOIN known AS s ON s.request = p.source AND s.predicate = w.predicate
LEFT JOIN known AS r ON r.request = p.recipient AND r.predicate = w.predicate
LEFT JOIN shared AS h ON h.source = p.source AND h.recipient = p.recipient AND h.predicate = w.predicate
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control, w.predicate
