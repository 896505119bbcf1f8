-- question: (effect) whose call is it, and who says so?
-- inputs:   requests, request_ids, id_bases, join_candidates, record_ids, record_groups, request_rows, tenants
-- grain:    one row per joined call
-- parameters: none
-- order:    none
-- First what the call's own records say: the gateway before the engine before the client. Then what every gateway
-- record of one of its ids, or of the id it was made from (an item of a batch), agrees on, though that is too common to
-- join by; not where something spoke against it, nor by the id in an answer. Then the tenants file, by request id, key, user, header, where all its lines for one kind agree. Last, the
-- file's lines for tenants rename and merge accounts.
CREATE OR REPLACE TEMP TABLE request_tenants AS
WITH own AS (
    SELECT
        request,
        arg_min(tenant_id, list_position(['gateway', 'engine', 'client'], vantage)) AS tenant_id,
        min(tenant_id) <> max(tenant_id) AS conflict
    FROM requests
    GROUP BY request
),
nameless AS (SELECT request FROM own WHERE tenant_id IS NULL),
gateway_ids AS (
    SELECT i.id, min(q.tenant_id) AS tenant_id
    FROM request_ids i
    JOIN requests q ON q.key = i.key
    WHERE i.vantage = 'gateway' AND i.weight < 2 AND NOT i.brought
    GROUP BY i.id
    HAVING min(q.tenant_id) = max(q.tenant_id) AND count(*) = count(q.tenant_id)
),
keys_of AS (
    SELECT q.request, 'request_id' AS kind, 1 AS place, i.id
    FROM nameless n
    JOIN requests q ON q.request = n.request
    JOIN request_ids i ON i.key = q.key AND i.weight < 2
    UNION
    SELECT q.request,
        CASE WHEN i.kind = 'api_key' THEN 'api_key' ELSE 'header' END AS kind,
        CASE WHEN i.kind = 'api_key' THEN 2 ELSE 4 END AS place,
        i.id
    FROM nameless n
    JOIN requests q ON q.request = n.request
    JOIN request_rows w ON w.key = q.key
    JOIN record_groups g ON g.call = w.call
    JOIN record_ids i ON i.record = g.record
    WHERE i.kind IN (
        'api_key', 'x-tenant-id', 'x-tenant', 'openai-organization', 'x-organization-id', 'openai-project',
        'cache_salt', 'extra_key', 'x-smg-routing-key'
    )
    UNION
    SELECT q.request, 'user' AS kind, 3 AS place, q.user_id
    FROM nameless n
    JOIN requests q ON q.request = n.request
    WHERE q.user_id IS NOT NULL
),
refused_ids AS (
    SELECT q.request, i.id
    FROM join_candidates c
    JOIN requests q ON q.key = c.far
    JOIN request_ids i ON i.key = c.near
    WHERE c.near_vantage = 'gateway' AND c.tier <= 3 AND c.refused IS NOT NULL
),
inherited AS (
    SELECT k.request, min(g.tenant_id) AS tenant_id
    FROM (
        SELECT request, id FROM keys_of WHERE kind = 'request_id'
        UNION
        SELECT q.request, b.id
        FROM nameless n
        JOIN requests q ON q.request = n.request
        JOIN id_bases b ON b.key = q.key
        WHERE length(b.id) >= 8
    ) k
    JOIN gateway_ids g ON g.id = k.id
    ANTI JOIN refused_ids r ON r.request = k.request AND r.id = k.id
    GROUP BY k.request
    HAVING min(g.tenant_id) = max(g.tenant_id)
),
listed AS (
    SELECT key_kind, key, tenant_id FROM tenants
    UNION
    SELECT key_kind, sha256(key), tenant_id FROM tenants WHERE key_kind IN ('api_key', 'any')
),
from_file AS (
    SELECT request, arg_min(tenant_id, place) AS tenant_id
    FROM (
        SELECT k.request, k.place, min(l.tenant_id) AS tenant_id
        FROM keys_of k
        JOIN listed l ON l.key = k.id AND l.key_kind IN (k.kind, 'any')
        GROUP BY k.request, k.place
        HAVING min(l.tenant_id) = max(l.tenant_id)
    )
    GROUP BY request
),
found AS (
    SELECT
        o.request, o.conflict,
        coalesce(o.tenant_id, i.tenant_id, f.tenant_id) AS tenant_id,
        CASE
            WHEN coalesce(o.tenant_id, i.tenant_id) IS NOT NULL THEN 'record'
            WHEN f.tenant_id IS NOT NULL THEN 'tenants_file'
            ELSE 'none'
        END AS basis
    FROM own o
    LEFT JOIN inherited i ON i.request = o.request
    LEFT JOIN from_file f ON f.request = o.request
),
renamed AS (
    SELECT key, min(tenant_id) AS tenant_id
    FROM tenants
    WHERE key_kind IN ('tenant', 'any')
    GROUP BY key
    HAVING min(tenant_id) = max(tenant_id)
),
named AS (
    SELECT
        f.request, f.conflict,
        coalesce(r.tenant_id, f.tenant_id) AS tenant_id,
        CASE WHEN r.tenant_id <> f.tenant_id THEN 'tenants_file' ELSE f.basis END AS basis
    FROM found f
    LEFT JOIN renamed r ON r.key = f.tenant_id
),
organisations AS (
    SELECT tenant_id, min(organisation) AS organisation
    FROM tenants
    WHERE organisation IS NOT NULL
    GROUP BY tenant_id
)
SELECT n.request, n.tenant_id, n.basis, coalesce(n.conflict, FALSE) AS conflict,
    coalesce(o.organisation, n.tenant_id) AS organisation
FROM named n
LEFT JOIN organisations o ON o.tenant_id = n.tenant_id
