-- question: which stays of requests in workers does the picture show?
-- inputs:   residencies, joined_requests, affected_requests, appearances, verdicts
-- grain:    one row per stay
-- parameters: slices (the most stays to show)
-- order:    worker, start, end, request, slot
-- Recipients and named sources come first, then requests in flight beside a recipient on its worker, then the rest. A request
-- is shown by its stays in slots where those are known, else by the time it was served.
WITH recipients AS (
    SELECT request, verdict, fragments, foreign_chars
    FROM affected_requests
),
sources AS (
    SELECT DISTINCT a.request
    FROM appearances AS a
    INNER JOIN verdicts AS v ON v.fragment_id = a.fragment_id
    WHERE a.named AND v.verdict <> 'excluded'
),
slotted AS (
    SELECT DISTINCT request
    FROM residencies
    WHERE slot IS NOT NULL
),
stays AS (
    SELECT
        s.request,
        s.worker,
        s.slot,
        s."start",
        s."end",
        s.basis,
        s.confidence,
        r.verdict,
        r.request IS NOT NULL AS is_recipient,
        o.request IS NOT NULL AS is_source,
        coalesce(r.fragments, 0) AS fragments,
        coalesce(r.foreign_chars, 0) AS foreign_chars
    FROM residencies AS s
    LEFT JOIN recipients AS r ON r.request = s.request
    LEFT JOIN sources AS o ON o.request = s.request
    LEFT JOIN slotted AS t ON t.request = s.request
    WHERE s.slot IS NOT NULL OR (s.phase = 'serve' AND t.request IS NULL)
),
beside AS (
    SELECT DISTINCT s.request
    FROM stays AS s
    INNER JOIN stays AS r ON r.worker = s.worker AND r."start" < s."end" AND s."start" < r."end"
    WHERE r.is_recipient
),
chosen AS (
    SELECT s.*
    FROM stays AS s
    LEFT JOIN beside AS b ON b.request = s.request
    ORDER BY
        (s.is_recipient OR s.is_source) DESC,
        (b.request IS NOT NULL) DESC,
        s."start",
        s.request,
        s.slot
    LIMIT $slices
)
SELECT
    c.request,
    j.request_id,
    j.tenant_id,
    c.worker,
    c.slot,
    epoch_us(c."start") AS start_us,
    epoch_us(c."end") AS end_us,
    c.basis,
    c.confidence,
    c.verdict,
    c.is_recipient,
    c.is_source,
    c.fragments,
    c.foreign_chars
FROM chosen AS c
INNER JOIN joined_requests AS j ON j.request = c.request
ORDER BY c.worker, start_us, end_us, c.request, c.slot
