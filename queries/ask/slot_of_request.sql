-- question: in which slots did one request sit, and who held them just before and after?
-- inputs:   residencies, joined_requests
-- grain:    one row per stay of the request in a slot
-- parameters: request
-- order:    start, worker, slot
-- empty:    in which slot this request sat is not in these logs and could not be derived, or there is no such request
-- Holders that are no request of the case (health checks) are not listed; of derived slots neither are stays that are unsure.
WITH stays AS (
    SELECT
        r.request,
        r.worker,
        r.slot,
        r."start",
        r."end",
        r.basis,
        r.confidence,
        r.source,
        lag(r.request) OVER slot_order AS before,
        lag(r."end") OVER slot_order AS before_end,
        lead(r.request) OVER slot_order AS after,
        lead(r."start") OVER slot_order AS after_start
    FROM residencies AS r
    WHERE r.phase = 'slot'
    WINDOW slot_order AS (PARTITION BY r.worker, r.slot ORDER BY r."start", r.request)
)
SELECT
    s.worker,
    s.slot,
    s."start",
    s."end",
    b.request_id AS before_request_id,
    b.tenant_id AS before_tenant_id,
    s.before_end,
    a.request_id AS after_request_id,
    a.tenant_id AS after_tenant_id,
    s.after_start,
    s.basis,
    s.confidence,
    s.source
FROM stays AS s
INNER JOIN joined_requests AS j ON j.request = s.request
LEFT JOIN joined_requests AS b ON b.request = s.before
LEFT JOIN joined_requests AS a ON a.request = s.after
WHERE j.request_id = $request
ORDER BY s."start", s.worker, s.slot
