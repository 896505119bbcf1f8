-- question: from which request, tenant and part of a request does each fragment come?
-- inputs:   fragments, appearances, request_contents, verdicts
-- grain:    one row per fragment x place that holds its text; one for a fragment that no place holds
-- parameters: none
-- order:    recipient_request_id, field, start, fragment_id, rank
-- empty:    no foreign text was found, so nothing has a source
-- Only what stands as `source` or `one of several` is claimed; a runner-up is no source.
WITH parts AS (
    SELECT DISTINCT a.request, a.side, a.field
    FROM appearances AS a
),
roles AS (
    SELECT p.request, p.side, p.field, min(u.role) AS role
    FROM parts AS p
    INNER JOIN request_contents AS u ON u.request = p.request AND u.side = p.side AND u.field = p.field
    GROUP BY p.request, p.side, p.field
)
SELECT
    f.fragment_id,
    f.recipient_request_id,
    f.recipient_tenant_id,
    f.field,
    f."start",
    f."end",
    coalesce(v.verdict, f.machine_verdict) AS verdict,
    CASE
        WHEN a.rank IS NULL THEN 'no request in the evidence holds it'
        WHEN NOT a.named THEN 'runner-up'
        WHEN len(f.sources) > 1 THEN 'one of several'
        ELSE 'source'
    END AS standing,
    a.rank,
    a.source_request_id,
    a.source_tenant_id,
    a.side,
    r.role AS part,
    a.field AS source_field,
    a."start" AS source_start,
    a."end" AS source_end,
    a.similarity
FROM fragments AS f
LEFT JOIN appearances AS a ON a.fragment_id = f.fragment_id
LEFT JOIN roles AS r ON r.request = a.request AND r.side = a.side AND r.field = a.field
LEFT JOIN verdicts AS v ON v.fragment_id = f.fragment_id
ORDER BY f.recipient_request_id, f.field, f."start", f.fragment_id, a.rank
