-- question: were source and recipient in one forward pass, or seen running together?
-- inputs:   leak_pairs, batch_members, batches
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where no such pass of either is known.
INSERT INTO pair_facts BY NAME
WITH members AS (
    SELECT source AS request
    FROM leak_pairs
    WHERE kind = 'source'
    UNION
    SELECT recipient
    FROM leak_pairs
    WHERE kind = 'source'
),
passes AS (
    SELECT DISTINCT b.request, b.batch
    FROM batch_members AS b
    INNER JOIN members AS m ON m.request = b.request
    INNER JOIN batches AS k ON k.batch = b.batch
    WHERE k.kind <> 'other'
),
known AS (
    SELECT DISTINCT request
    FROM passes
),
shared AS (
    SELECT DISTINCT p.source, p.recipient
    FROM leak_pairs AS p
    INNER JOIN passes AS a ON a.request = p.source
    INNER JOIN passes AS b ON b.request = p.recipient AND b.batch = a.batch
    WHERE p.kind = 'source'
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'same_batch' AS predicate,
    bool_or(CASE WHEN s.request IS NULL OR r.request IS NULL THEN NULL ELSE h.source IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN known AS s ON s.request = p.source
LEFT JOIN known AS r ON r.request = p.recipient
LEFT JOIN shared AS h ON h.source = p.source AND h.recipient = p.recipient
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
