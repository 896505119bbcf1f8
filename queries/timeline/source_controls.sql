-- question: which other customers' requests could as well have been the source, by place and time?
-- inputs:   leak_pairs, joined_requests, residencies, fragments, appearances
-- grain:    one row per set, control and member
-- parameters: controls (the most per set), near (how many requests before and after on the same worker are looked at)
-- order:    none (INSERT)
-- A control ran on the source's worker, was received before the recipient finished, was in flight with the recipient if and
-- only if the source was, and its age differs from the source's by no more than the source's own (by a second at least).
-- It belongs to neither customer and is no candidate source of this recipient. The nearest by both ends of its time win.
-- Where several requests hold the text, a control is as many requests, each matched to one of them.
INSERT INTO leak_pairs BY NAME
WITH placed AS (
    SELECT
        j.request,
        v.worker,
        j.isolation_unit,
        epoch_us(j.received_at) AS received,
        epoch_us(coalesce(j.finished_at, j.received_at)) AS finished,
        row_number() OVER (PARTITION BY v.worker ORDER BY j.received_at, j.request) AS place
    FROM joined_requests AS j
    INNER JOIN residencies AS v ON v.request = j.request AND v.phase = 'serve'
    WHERE j.received_at IS NOT NULL AND j.isolation_unit IS NOT NULL
),
leaks AS (
    SELECT
        p.level,
        p.pair_set,
        p.member,
        p.recipient,
        s.worker,
        s.place,
        s.isolation_unit AS source_unit,
        r.isolation_unit AS recipient_unit,
        s.received AS source_received,
        s.finished AS source_finished,
        r.received AS recipient_received,
        r.finished AS recipient_finished,
        greatest(1000000, r.finished - s.received) AS age,
        s.received < r.finished AND r.received < s.finished AS overlapping,
        count(*) OVER (PARTITION BY p.level, p.pair_set) AS members
    FROM leak_pairs AS p
    INNER JOIN placed AS s ON s.request = p.source
    INNER JOIN placed AS r ON r.request = p.recipient
    WHERE p.kind = 'source' AND p.control = 0
),
steps AS (
    SELECT unnest(range(-$near, $near + 1)) AS step
),
candidates AS (
    SELECT l.*, l.place + t.step AS other
    FROM leaks AS l
    CROSS JOIN steps AS t
),
suspected AS (
    SELECT DISTINCT f.request AS recipient, a.request AS source
    FROM fragments AS f
    INNER JOIN appearances AS a ON a.fragment_id = f.fragment_id
),
fit AS (
    SELECT
        c.level,
        c.pair_set,
        c.member,
        c.members,
        c.recipient,
        x.request AS source,
        row_number() OVER (
            PARTITION BY c.level, c.pair_set, c.member
            ORDER BY abs(x.received - c.source_received) + abs(x.finished - c.source_finished), x.request
        ) AS control
    FROM candidates AS c
    INNER JOIN placed AS x ON x.worker = c.worker AND x.place = c.other
    LEFT JOIN suspected AS k ON k.recipient = c.recipient AND k.source = x.request
    WHERE k.source IS NULL
        AND x.request <> c.recipient
        AND x.isolation_unit <> c.recipient_unit
        AND x.isolation_unit <> c.source_unit
        AND x.received < c.recipient_finished
        AND (x.received < c.recipient_finished AND c.recipient_received < x.finished) = c.overlapping
        AND abs(x.received - c.source_received) <= c.age
),
whole AS (
    SELECT *, count(*) OVER (PARTITION BY level, pair_set, control) AS present
    FROM fit
    WHERE control <= $controls
)
SELECT 'source' AS kind, level, pair_set, control, member, source, recipient
FROM whole
WHERE present = members
