-- question: which unaffected responses are like the affected ones in place and time?
-- inputs:   leak_pairs, joined_requests, residencies, fragments
-- grain:    one row per set and control
-- parameters: controls (the most per set), near (how many requests before and after on the same worker are looked at)
-- order:    none (INSERT)
-- A control was examined, holds no fragment of any strength, and was served by the same worker; the nearest in time win.
INSERT INTO leak_pairs BY NAME
WITH placed AS (
    SELECT
        j.request,
        v.worker,
        epoch_us(j.received_at) AS received,
        row_number() OVER (PARTITION BY v.worker ORDER BY j.received_at, j.request) AS place,
        j.examinable AND f.request IS NULL AS unaffected
    FROM joined_requests AS j
    INNER JOIN residencies AS v ON v.request = j.request AND v.phase = 'serve'
    LEFT JOIN (SELECT DISTINCT request FROM fragments) AS f ON f.request = j.request
    WHERE j.received_at IS NOT NULL
),
steps AS (
    SELECT unnest(range(-$near, $near + 1)) AS step
),
leaks AS (
    SELECT p.level, p.pair_set, r.worker, r.received, r.place + t.step AS other
    FROM leak_pairs AS p
    INNER JOIN placed AS r ON r.request = p.recipient
    CROSS JOIN steps AS t
    WHERE p.kind = 'recipient' AND p.control = 0
),
fit AS (
    SELECT
        l.level,
        l.pair_set,
        x.request AS recipient,
        row_number() OVER (
            PARTITION BY l.level, l.pair_set
            ORDER BY abs(x.received - l.received), x.request
        ) AS control
    FROM leaks AS l
    INNER JOIN placed AS x ON x.worker = l.worker AND x.place = l.other
    WHERE x.unaffected
)
SELECT 'recipient' AS kind, level, pair_set, control, 0 AS member, NULL::BIGINT AS source, recipient
FROM fit
WHERE control <= $controls
