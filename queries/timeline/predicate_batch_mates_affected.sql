-- question: was an earlier affected response in one of the recipient's forward passes?
-- inputs:   leak_pairs, batch_members, batches, joined_requests
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Only leaks received before the set's own count, for it and its controls alike: else two leaks that share a pass would vouch
-- for each other, and the sets would not be independent. A control counts only where it was in flight with the set's own
-- leak: a fault that strikes everything for a while is no sign of the pass. Null where the passes are not known.
INSERT INTO pair_facts BY NAME
WITH members AS (
    SELECT DISTINCT recipient AS request
    FROM leak_pairs
    WHERE kind = 'recipient'
),
passes AS (
    SELECT DISTINCT b.request, b.batch
    FROM batch_members AS b
    INNER JOIN members AS m ON m.request = b.request
    INNER JOIN batches AS k ON k.batch = b.batch
    WHERE k.kind NOT IN ('other', 'running')
),
known AS (
    SELECT DISTINCT request
    FROM passes
),
affected AS (
    SELECT DISTINCT recipient AS request
    FROM leak_pairs
    WHERE kind = 'recipient' AND control = 0
),
mates AS (
    SELECT DISTINCT a.request, b.request AS mate, j.received_at AS mate_received
    FROM passes AS a
    INNER JOIN passes AS b ON b.batch = a.batch AND b.request <> a.request
    INNER JOIN affected AS f ON f.request = b.request
    INNER JOIN joined_requests AS j ON j.request = b.request
),
leaks AS (
    SELECT p.level, p.pair_set, p.recipient, j.received_at, j.finished_at
    FROM leak_pairs AS p
    INNER JOIN joined_requests AS j ON j.request = p.recipient
    WHERE p.kind = 'recipient' AND p.control = 0
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'batch_mates_affected' AS predicate,
    bool_or(
        CASE
            WHEN k.request IS NULL OR NOT (j.received_at < l.finished_at AND l.received_at < j.finished_at) THEN NULL
            ELSE m.mate IS NOT NULL
        END
    ) AS holds
FROM leak_pairs AS p
INNER JOIN leaks AS l ON l.level = p.level AND l.pair_set = p.pair_set
INNER JOIN joined_requests AS j ON j.request = p.recipient
LEFT JOIN known AS k ON k.request = p.recipient
LEFT JOIN mates AS m ON m.request = p.recipient AND m.mate <> l.recipient AND m.mate_received <= l.received_at
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
