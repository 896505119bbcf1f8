-- question: when did each source request enter, get prefilled, finish, abort or get evicted, relative to the recipient's steps?
-- inputs:   fragments, appearances, joined_requests, interrupted_requests, batches, batch_members
-- grain:    one row per fragment x named source tenant: its best-ranked request
-- parameters: none
-- order:    recipient_request_id, fragment_id, source_request_id
-- empty:    no fragment has a named source, so no two requests can be set against each other
WITH pairs AS (
    SELECT
        a.fragment_id,
        a.source_tenant_id,
        arg_min(a.request, a.rank) AS source,
        any_value(f.request) AS recipient
    FROM appearances AS a
    INNER JOIN fragments AS f ON f.fragment_id = a.fragment_id
    WHERE a.named
    GROUP BY a.fragment_id, a.source_tenant_id
),
both_ends AS (
    SELECT source AS request FROM pairs
    UNION
    SELECT recipient FROM pairs
),
prefills AS (
    SELECT m.request, min(b."at") AS prefilled_at
    FROM batch_members AS m
    INNER JOIN both_ends AS e ON e.request = m.request
    INNER JOIN batches AS b ON b.batch = m.batch
    WHERE b.kind IN ('prefill', 'mixed')
    GROUP BY m.request
),
ended AS (
    SELECT i.request, string_agg(DISTINCT i.how, ', ' ORDER BY i.how) AS how
    FROM interrupted_requests AS i
    INNER JOIN both_ends AS e ON e.request = i.request
    GROUP BY i.request
)
SELECT
    p.fragment_id,
    s.request_id AS source_request_id,
    r.request_id AS recipient_request_id,
    s.received_at AS source_received_at,
    sp.prefilled_at AS source_prefilled_at,
    s.finished_at AS source_finished_at,
    coalesce(se.how, s.finish_reason) AS source_ended,
    r.received_at AS recipient_received_at,
    rp.prefilled_at AS recipient_prefilled_at,
    coalesce(r.first_token_at, rp.prefilled_at) AS recipient_first_token_at,
    r.finished_at AS recipient_finished_at,
    coalesce(re.how, r.finish_reason) AS recipient_ended,
    (epoch_us(r.received_at) - epoch_us(s.received_at)) / 1e6 AS source_came_earlier_seconds,
    (epoch_us(r.received_at) - epoch_us(s.finished_at)) / 1e6 AS source_gone_before_seconds,
    CASE
        WHEN s.received_at IS NULL OR r.received_at IS NULL THEN 'not known: no times'
        WHEN s.received_at > r.received_at THEN 'the source came while the recipient was there'
        WHEN s.finished_at IS NULL THEN 'the source came first; when it left is not logged'
        WHEN s.finished_at <= r.received_at THEN 'the source had left when the recipient came'
        ELSE 'the source was still there when the recipient came'
    END AS "order"
FROM pairs AS p
INNER JOIN joined_requests AS s ON s.request = p.source
INNER JOIN joined_requests AS r ON r.request = p.recipient
LEFT JOIN prefills AS sp ON sp.request = p.source
LEFT JOIN prefills AS rp ON rp.request = p.recipient
LEFT JOIN ended AS se ON se.request = p.source
LEFT JOIN ended AS re ON re.request = p.recipient
ORDER BY recipient_request_id, p.fragment_id, source_request_id
