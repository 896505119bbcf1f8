-- question: which requests of one tenant surfaced in other tenants' responses, where and how many characters?
-- inputs:   fragments, appearances, verdicts, joined_requests
-- grain:    one row per fragment x appearance that names the tenant
-- parameters: tenant
-- order:    recipient received_at, recipient_request_id, field, start, source_request_id
-- empty:    no text of this tenant was found elsewhere, or there is no such tenant; `ask whom-to-tell` lists all
SELECT
    appearances.source_request_id,
    appearances.side,
    appearances.field AS source_field,
    appearances."start" AS source_start,
    appearances."end" AS source_end,
    fragments.recipient_request_id,
    fragments.recipient_tenant_id,
    joined_requests.received_at AS recipient_received_at,
    fragments.field,
    fragments."start",
    fragments."end",
    len(fragments.sources) AS possible_source_tenants,
    coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict,
    fragments.fragment_id
FROM appearances
JOIN fragments USING (fragment_id)
JOIN joined_requests ON joined_requests.request = fragments.request
LEFT JOIN verdicts USING (fragment_id)
WHERE appearances.named
  AND appearances.source_tenant_id = $tenant
ORDER BY
    joined_requests.received_at NULLS LAST,
    fragments.recipient_request_id,
    fragments.field,
    fragments."start",
    fragments.fragment_id,
    appearances.rank
