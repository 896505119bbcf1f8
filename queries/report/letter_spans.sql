-- question: which places in its own requests concern each tenant?
-- inputs:   fragments, verdicts, appearances, joined_requests
-- grain:    one row per tenant, role and place in one of the tenant's own requests
-- parameters: none
-- order:    tenant_id, role, received time, request_id, field, start, end
-- Every id, field and offset here belongs to the tenant of the row: nothing of the other side is selected.
WITH strong AS (
    SELECT
        f.fragment_id,
        f.request,
        f.field,
        f."start",
        f."end",
        f.sources,
        v.verdict
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict IN ('confirmed', 'probable')
),
received AS (
    SELECT j.tenant_id, 'recipient' AS role, j.request_id, 'response' AS side, s.field, s."start", s."end",
        j.received_at, s.verdict
    FROM strong AS s
    INNER JOIN joined_requests AS j ON j.request = s.request
    WHERE j.tenant_id IS NOT NULL
),
best AS (
    SELECT
        a.*,
        s.verdict,
        len(s.sources) > 1 AS one_of_several
    FROM appearances AS a
    INNER JOIN strong AS s ON s.fragment_id = a.fragment_id
    WHERE list_contains(s.sources, a.source_tenant_id)
    QUALIFY row_number() OVER (PARTITION BY a.fragment_id, a.source_tenant_id ORDER BY a.rank, a.request, a.field) = 1
),
supplied AS (
    SELECT j.tenant_id, 'source' AS role, j.request_id, b.side, b.field, b."start", b."end", j.received_at,
        CASE WHEN b.one_of_several THEN 'probable' ELSE b.verdict END AS verdict
    FROM best AS b
    INNER JOIN joined_requests AS j ON j.request = b.request
    WHERE j.tenant_id = b.source_tenant_id
)
SELECT
    tenant_id,
    role,
    request_id,
    side,
    field,
    "start",
    "end",
    strftime(any_value(received_at), '%Y-%m-%dT%H:%M:%S.%fZ') AS received_at,
    min(verdict) AS verdict
FROM (SELECT * FROM received UNION ALL SELECT * FROM supplied)
GROUP BY tenant_id, role, request_id, side, field, "start", "end"
ORDER BY tenant_id, role, received_at NULLS LAST, request_id, side, field, "start", "end"
