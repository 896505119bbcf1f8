-- question: which requests were in a forward pass that held source and recipient of a proven leak?
-- inputs:   leak_pairs, batch_members, batches, fragments, exposed (added to)
-- grain:    one row per request
-- parameters: supported (whether the relation stands)
-- order:    none (INSERT)
INSERT INTO exposed BY NAME
WITH leaks AS (
    SELECT DISTINCT source, recipient
    FROM leak_pairs
    WHERE kind = 'source' AND level = 'probable' AND control = 0
),
named AS (
    SELECT request, min(fragment_id) AS fragment_id
    FROM fragments
    WHERE machine_verdict = 'probable'
    GROUP BY request
),
passes AS (
    SELECT DISTINCT l.recipient, a.batch
    FROM leaks AS l
    INNER JOIN batch_members AS a ON a.request = l.source
    INNER JOIN batch_members AS b ON b.request = l.recipient AND b.batch = a.batch
    INNER JOIN batches AS k ON k.batch = a.batch
    WHERE k.kind IN ('prefill', 'decode', 'mixed')
),
shared AS (
    SELECT
        m.request,
        count(DISTINCT p.batch) AS passes,
        count(DISTINCT p.recipient) AS leaks,
        min(n.fragment_id) AS fragment_id
    FROM batch_members AS m
    INNER JOIN passes AS p ON p.batch = m.batch
    INNER JOIN named AS n ON n.request = p.recipient
    GROUP BY m.request
)
SELECT
    s.request,
    'batch' AS relation,
    s.passes || ' passes' AS shared,
    s.leaks,
    s.fragment_id,
    'same_batch' AS predicate,
    $supported::BOOLEAN AS supported
FROM shared AS s
WHERE NOT EXISTS (SELECT 1 FROM leaks AS l WHERE l.source = s.request)
