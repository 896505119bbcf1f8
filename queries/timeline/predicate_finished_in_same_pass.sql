-- question: did source and recipient finish in the same forward pass?
-- inputs:   leak_pairs, batch_members, batches
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- The last pass that each is in, or one next to it: a finished request may stand in one pass more than its tokens.
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
ends AS (
    SELECT b.request, k.worker, max(k.iteration) AS iteration
    FROM batch_members AS b
    INNER JOIN members AS m ON m.request = b.request
    INNER JOIN batches AS k ON k.batch = b.batch
    WHERE k.iteration IS NOT NULL AND k.kind <> 'running'
    GROUP BY b.request, k.worker
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'finished_in_same_pass' AS predicate,
    bool_or(s.worker = r.worker AND abs(s.iteration - r.iteration) <= 1) AS holds
FROM leak_pairs AS p
LEFT JOIN ends AS s ON s.request = p.source
LEFT JOIN ends AS r ON r.request = p.recipient
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
