-- question: which responses of one tenant carry text that is not theirs, and where in them?
-- inputs:   fragments, verdicts, joined_requests
-- grain:    one row per fragment
-- parameters: tenant
-- order:    received_at, request_id, field, start
-- empty:    no response of this tenant holds foreign text that was found, or there is no such tenant; `ask whom-to-tell` lists all
SELECT
    joined_requests.request_id,
    joined_requests.received_at,
    fragments.field,
    fragments."start",
    fragments."end",
    fragments.kind,
    coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict,
    fragments.fragment_id
FROM fragments
JOIN joined_requests USING (request)
LEFT JOIN verdicts USING (fragment_id)
WHERE fragments.recipient_tenant_id = $tenant
ORDER BY joined_requests.received_at NULLS LAST, joined_requests.request_id, fragments.field, fragments."start", fragments.fragment_id
