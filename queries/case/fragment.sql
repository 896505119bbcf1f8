-- question: which fragments have an id that starts so?
-- inputs:   fragments, verdicts, joined_requests
-- grain:    one row per fragment, two at most
-- parameters: fragment
-- order:    fragment_id
SELECT
    fragments.fragment_id,
    fragments.request,
    fragments.recipient_request_id,
    fragments.recipient_tenant_id,
    fragments.vantage,
    fragments.field,
    fragments."start",
    fragments."end",
    fragments.kind,
    fragments.bits,
    fragments.net_bits,
    fragments.q_value,
    fragments.stratum,
    fragments.machine_verdict,
    fragments.verdict_reason,
    fragments.sources,
    fragments.content,
    fragments.features,
    fragments.exclusions_tried,
    coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict,
    coalesce(verdicts.basis, 'attribution only; scope has not run') AS verdict_basis,
    joined_requests.worker,
    joined_requests.received_at,
    joined_requests.finished_at
FROM fragments
JOIN joined_requests USING (request)
LEFT JOIN verdicts USING (fragment_id)
WHERE starts_with(fragments.fragment_id, $fragment)
   OR starts_with(fragments.fragment_id, 'F-' || $fragment)
ORDER BY fragments.fragment_id
LIMIT 2
