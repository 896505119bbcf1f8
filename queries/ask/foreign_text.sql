-- question: which responses contain text that is not the recipient's own, and at which offsets?
-- inputs:   fragments, verdicts, joined_requests, contents
-- grain:    one row per fragment
-- parameters: none
-- order:    received_at, request_id, field, start
-- empty:    no foreign text was found in what could be examined; that is no proof that nothing leaked (`ask bounds`)
SELECT
    f.recipient_request_id AS request_id,
    f.recipient_tenant_id AS tenant_id,
    j.received_at,
    f.field,
    f."start",
    f."end",
    f."end" - f."start" AS code_points,
    c.code_points AS code_points_of_field,
    f.kind,
    coalesce(v.verdict, f.machine_verdict) AS verdict,
    f.sources,
    f.fragment_id
FROM fragments AS f
INNER JOIN joined_requests AS j ON j.request = f.request
LEFT JOIN contents AS c ON c.content = f.content
LEFT JOIN verdicts AS v ON v.fragment_id = f.fragment_id
ORDER BY j.received_at NULLS LAST, f.recipient_request_id, f.field, f."start", f.fragment_id
