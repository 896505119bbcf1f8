-- question: which leaks can be drawn most clearly?
-- inputs:   leak_pairs, pair_facts, predicate_tests, fragments, verdicts, residencies, joined_requests
-- grain:    one row per leak
-- parameters: leaks (the most)
-- order:    clearest first
-- A leak is clear where the fact that fits best holds for it, both slots are known, both ran on one worker, and little time lies
-- between them; then by the bits of its strongest fragment. At most one per pair of source and recipient.
WITH first AS (
    SELECT predicate
    FROM predicate_tests
    WHERE level = 'probable' AND rank = 1
),
explained AS (
    SELECT DISTINCT f.kind, f.pair_set
    FROM pair_facts AS f
    INNER JOIN first AS p ON p.predicate = f.predicate
    WHERE f.level = 'probable' AND f.control = 0 AND f.holds
),
strongest AS (
    SELECT f.request, arg_max(f.fragment_id, (f.bits, f.fragment_id)) AS fragment_id, max(f.bits) AS bits
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict IN ('confirmed', 'probable')
    GROUP BY f.request
),
stays AS (
    SELECT request, bool_or(slot IS NOT NULL) AS slotted, min(worker) AS worker, min("start") AS low, max("end") AS high
    FROM residencies
    GROUP BY request
)
SELECT
    s.fragment_id,
    p.source,
    p.recipient
FROM leak_pairs AS p
INNER JOIN strongest AS s ON s.request = p.recipient
INNER JOIN stays AS a ON a.request = p.source
INNER JOIN stays AS b ON b.request = p.recipient
LEFT JOIN explained AS e ON e.kind = p.kind AND e.pair_set = p.pair_set
WHERE p.kind = 'source' AND p.level = 'probable' AND p.control = 0 AND p.member = 0
ORDER BY
    e.pair_set IS NOT NULL DESC,
    a.slotted AND b.slotted DESC,
    a.worker = b.worker DESC,
    greatest(0, epoch_us(b.low) - epoch_us(a.high)),
    s.bits DESC,
    s.fragment_id
LIMIT $leaks
