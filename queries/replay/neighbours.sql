-- question: which requests ran near a leak, and what ties them to its recipient or its source?
-- inputs:   joined_requests, residencies, slot_neighbours, batch_members, interrupted_requests
-- grain:    one row per request in flight on the same worker near the recipient or the source, these left out
-- parameters: recipient, sources (list of requests), window_us
-- order:    request
-- A worker that is not known may be the same. Near: in flight while the recipient was, or up to the window before, or
-- while a source was. Stays in a slot between the source's and the recipient's, and the recipient's own predecessor,
-- count as sharing the slot.
WITH recipient AS (
    SELECT request, worker, received_at AS starts, coalesce(finished_at, received_at) AS ends
    FROM joined_requests
    WHERE request = $recipient
),
sources AS (
    SELECT request, received_at AS starts, coalesce(finished_at, received_at) AS ends
    FROM joined_requests
    WHERE list_contains($sources, request)
),
near AS (
    SELECT
        j.request,
        j.received_at,
        coalesce(j.finished_at, j.received_at) AS ends,
        r.starts AS recipient_starts,
        j.received_at <= r.ends AND coalesce(j.finished_at, j.received_at) >= r.starts AS beside_recipient
    FROM joined_requests AS j
    CROSS JOIN recipient AS r
    WHERE j.request <> r.request
      AND NOT list_contains($sources, j.request)
      AND j.prompt_state = 'full'
      AND (j.worker IS NULL OR r.worker IS NULL OR j.worker = r.worker)
      AND (
          (j.received_at <= r.ends
              AND coalesce(j.finished_at, j.received_at) >= r.starts - to_microseconds($window_us))
          OR EXISTS (
              SELECT 1
              FROM sources AS s
              WHERE j.received_at <= s.ends AND coalesce(j.finished_at, j.received_at) >= s.starts
          )
      )
),
passes AS (
    SELECT batch, request = (SELECT request FROM recipient) AS of_recipient
    FROM batch_members
    WHERE request = (SELECT request FROM recipient) OR list_contains($sources, request)
),
shared AS (
    SELECT
        m.request,
        count(DISTINCT m.batch) FILTER (WHERE p.of_recipient) AS with_recipient,
        count(DISTINCT m.batch) FILTER (WHERE NOT p.of_recipient) AS with_source
    FROM batch_members AS m
    INNER JOIN passes AS p ON p.batch = m.batch
    GROUP BY m.request
),
recipient_stays AS (
    SELECT worker, slot, "start", former
    FROM slot_neighbours
    WHERE request = $recipient
),
source_stays AS (
    SELECT worker, slot, "start"
    FROM residencies
    WHERE slot IS NOT NULL AND list_contains($sources, request)
),
slotted AS (
    SELECT former AS request FROM recipient_stays WHERE former IS NOT NULL
    UNION
    SELECT s.request
    FROM residencies AS s
    INNER JOIN recipient_stays AS r ON r.worker = s.worker AND r.slot = s.slot AND s."start" <= r."start"
    INNER JOIN source_stays AS o ON o.worker = s.worker AND o.slot = s.slot AND s."start" >= o."start"
    WHERE s.slot IS NOT NULL
)
SELECT
    n.request,
    n.beside_recipient,
    abs(epoch_us(n.received_at) - epoch_us(n.recipient_starts)) AS distance_us,
    n.request IN (SELECT request FROM slotted) AS same_slot,
    coalesce(s.with_recipient, 0) AS passes_with_recipient,
    coalesce(s.with_source, 0) AS passes_with_source,
    n.request IN (SELECT request FROM interrupted_requests) AS interrupted
FROM near AS n
LEFT JOIN shared AS s ON s.request = n.request
ORDER BY n.request
