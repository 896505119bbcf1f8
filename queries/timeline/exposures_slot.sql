-- question: which requests had a slot in which a proven leak was handed on?
-- inputs:   leak_pairs, pair_facts, residencies, slot_neighbours, fragments, exposed (added to)
-- grain:    one row per request
-- parameters: low, high (of the fault; null: no limit), supported (whether the relation stands)
-- order:    none (INSERT)
INSERT INTO exposed BY NAME
WITH leaks AS (
    SELECT DISTINCT p.source, p.recipient
    FROM leak_pairs AS p
    INNER JOIN pair_facts AS f
        ON f.kind = p.kind AND f.level = p.level AND f.pair_set = p.pair_set AND f.control = p.control
    WHERE p.kind = 'source' AND p.level = 'probable' AND p.control = 0 AND f.holds
        AND f.predicate IN ('slot_reused', 'slot_given')
),
named AS (
    SELECT request, min(fragment_id) AS fragment_id
    FROM fragments
    WHERE machine_verdict = 'probable'
    GROUP BY request
),
faulty AS (
    SELECT DISTINCT s.worker, s.slot, l.recipient
    FROM slot_neighbours AS s
    INNER JOIN leaks AS l ON l.recipient = s.request AND l.source IN (s.former, s.next)
),
shared AS (
    SELECT
        s.request,
        string_agg(DISTINCT s.slot, ' ' ORDER BY s.slot) AS slots,
        count(DISTINCT f.recipient) AS leaks,
        min(n.fragment_id) AS fragment_id
    FROM residencies AS s
    INNER JOIN faulty AS f ON f.worker = s.worker AND f.slot = s.slot
    INNER JOIN named AS n ON n.request = f.recipient
    WHERE ($high::TIMESTAMP IS NULL OR s."start" <= $high::TIMESTAMP)
        AND ($low::TIMESTAMP IS NULL OR s."end" >= $low::TIMESTAMP)
    GROUP BY s.request
)
SELECT
    s.request,
    'slot' AS relation,
    'slot ' || s.slots AS shared,
    s.leaks,
    s.fragment_id,
    'slot_reused' AS predicate,
    $supported::BOOLEAN AS supported
FROM shared AS s
WHERE NOT EXISTS (SELECT 1 FROM leaks AS l WHERE l.source = s.request)
