-- question: (effect) did the source and recipient of each appearance sit in one slot, and right after each other?
-- inputs:   appearances, fragments, residencies, slot_stays, place_workers, time_stats
-- grain:    one row per appearance and relation
-- parameters: none
-- order:    none (INSERT)
-- Between two stays in a slot stands whoever else held it, health checks too. A derived slot that is sure was sure all the
-- way from its earlier stay, so that the stays in between are known; calls that the case does not have leave it open.
INSERT INTO appearance_relations BY NAME
WITH pairs AS (
    SELECT DISTINCT a.fragment_id, a.rank, a.request AS source, f.request AS recipient
    FROM appearances AS a
    INNER JOIN fragments AS f ON f.fragment_id = a.fragment_id
),
concerned AS (
    SELECT source AS request FROM pairs
    UNION
    SELECT recipient FROM pairs
),
stays AS (
    SELECT r.request, r.worker, r.slot, r."start" AS starts, r."end" AS ends, r.basis
    FROM residencies AS r
    WHERE r.phase = 'slot'
),
own AS (
    SELECT s.*
    FROM stays AS s
    SEMI JOIN concerned AS c ON c.request = s.request
),
holders AS (
    SELECT worker, slot, starts
    FROM stays
    UNION
    SELECT p.worker, s.slot::VARCHAR, s.starts
    FROM slot_stays AS s
    INNER JOIN place_workers AS p ON p.place = s.place
),
met AS (
    SELECT
        p.fragment_id,
        p.rank,
        s.worker = r.worker AND s.slot = r.slot AS same,
        s.worker,
        s.slot,
        s.starts AS source_starts,
        s.ends AS source_ends,
        r.starts AS recipient_starts,
        CASE WHEN s.basis = 'logged' AND r.basis = 'logged' THEN 'logged' ELSE 'derived' END AS basis
    FROM pairs AS p
    INNER JOIN own AS s ON s.request = p.source
    INNER JOIN own AS r ON r.request = p.recipient
),
nearest AS (
    -- Of several stays of one call, those that meet, and of these the closest in time.
    SELECT *
    FROM met
    QUALIFY row_number() OVER (
        PARTITION BY fragment_id, rank
        ORDER BY same DESC, abs(epoch_us(recipient_starts) - epoch_us(source_ends)), source_starts, recipient_starts
    ) = 1
),
between_them AS (
    SELECT n.fragment_id, n.rank, count(*) AS others
    FROM nearest AS n
    INNER JOIN holders AS h
        ON h.worker = n.worker AND h.slot = n.slot AND h.starts > n.source_starts AND h.starts < n.recipient_starts
    WHERE n.same
    GROUP BY n.fragment_id, n.rank
),
strangers AS (
    SELECT DISTINCT n.fragment_id, n.rank
    FROM nearest AS n
    INNER JOIN place_workers AS w ON w.worker = n.worker
    INNER JOIN time_stats AS t
        ON t.place = w.place AND t.request IS NULL
        AND t.admitted_us > epoch_us(n.source_starts) AND t.admitted_us < epoch_us(n.recipient_starts)
    WHERE n.same AND n.basis = 'derived'
)
SELECT
    p.fragment_id,
    p.rank,
    'same_slot' AS relation,
    CASE WHEN n.fragment_id IS NULL THEN 'unknown' WHEN n.same THEN 'yes' ELSE 'no' END AS value,
    coalesce(n.basis, 'derived') AS basis
FROM (SELECT DISTINCT fragment_id, rank FROM pairs) AS p
LEFT JOIN nearest AS n ON n.fragment_id = p.fragment_id AND n.rank = p.rank
UNION ALL
SELECT
    p.fragment_id,
    p.rank,
    'slot_predecessor',
    CASE
        WHEN n.fragment_id IS NULL THEN 'unknown'
        WHEN NOT n.same OR n.source_starts >= n.recipient_starts OR coalesce(b.others, 0) > 0 THEN 'no'
        WHEN t.fragment_id IS NOT NULL THEN 'unknown'
        ELSE 'yes'
    END,
    coalesce(n.basis, 'derived')
FROM (SELECT DISTINCT fragment_id, rank FROM pairs) AS p
LEFT JOIN nearest AS n ON n.fragment_id = p.fragment_id AND n.rank = p.rank
LEFT JOIN between_them AS b ON b.fragment_id = p.fragment_id AND b.rank = p.rank
LEFT JOIN strangers AS t ON t.fragment_id = p.fragment_id AND t.rank = p.rank
UNION ALL
SELECT
    n.fragment_id,
    n.rank,
    'slot_gap_us',
    (epoch_us(n.recipient_starts) - epoch_us(n.source_ends))::VARCHAR,
    n.basis
FROM nearest AS n
WHERE n.same AND n.source_starts < n.recipient_starts
