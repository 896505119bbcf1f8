-- question: who was in the slots around one leak?
-- inputs:   residencies, joined_requests, affected_requests
-- grain:    one row per stay
-- parameters: source, recipient, stays (the most)
-- order:    worker, start, end, request, slot
-- The picture reaches from the source to the end of the recipient, but no more than four stays of the recipient back.
WITH slotted AS (
    SELECT DISTINCT request
    FROM residencies
    WHERE slot IS NOT NULL
),
shown AS (
    SELECT s.request, s.worker, s.slot, epoch_us(s."start") AS start_us, epoch_us(s."end") AS end_us
    FROM residencies AS s
    LEFT JOIN slotted AS t ON t.request = s.request
    WHERE s.slot IS NOT NULL OR (s.phase = 'serve' AND t.request IS NULL)
),
ends AS (
    SELECT
        min(start_us) FILTER (WHERE request = $source) AS source_start,
        max(end_us) FILTER (WHERE request = $source) AS source_end,
        min(start_us) FILTER (WHERE request = $recipient) AS recipient_start,
        max(end_us) FILTER (WHERE request = $recipient) AS recipient_end
    FROM shown
    WHERE request IN ($source, $recipient)
),
span AS (
    SELECT
        greatest(
            least(source_start, recipient_start), recipient_start - 4 * greatest(1, recipient_end - recipient_start)
        ) AS low,
        recipient_end + greatest(1, recipient_end - recipient_start) // 8 AS high
    FROM ends
),
places AS (
    SELECT DISTINCT worker
    FROM shown
    WHERE request IN ($source, $recipient)
),
near AS (
    SELECT s.*, p.low, p.high
    FROM shown AS s
    INNER JOIN places AS w ON w.worker = s.worker
    CROSS JOIN span AS p
    WHERE s.start_us <= p.high AND s.end_us >= p.low
    ORDER BY s.request IN ($source, $recipient) DESC, s.start_us, s.request
    LIMIT $stays
)
SELECT
    n.worker,
    n.slot,
    greatest(n.start_us, n.low) AS start_us,
    least(n.end_us, n.high) AS end_us,
    n.low,
    n.high,
    CASE
        WHEN n.request = $source THEN 'source'
        WHEN n.request = $recipient THEN 'recipient'
        WHEN a.request IS NOT NULL THEN 'affected'
        ELSE 'other'
    END AS role
FROM near AS n
LEFT JOIN affected_requests AS a ON a.request = n.request AND a.listed = 'affected'
ORDER BY n.worker, n.start_us, n.end_us, n.request, n.slot
