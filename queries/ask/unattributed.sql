-- question: which foreign fragments have no source in the evidence?
-- inputs:   fragments, verdicts
-- grain:    one row per fragment without a source
-- parameters: none
-- order:    recipient_request_id, field, start
SELECT
    fragments.fragment_id,
    fragments.recipient_request_id,
    fragments.recipient_tenant_id,
    fragments.field,
    fragments."start",
    fragments."end",
    fragments.kind,
    coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict,
    fragments.verdict_reason
FROM fragments
LEFT JOIN verdicts USING (fragment_id)
WHERE len(fragments.sources) = 0
ORDER BY fragments.recipient_request_id, fragments.field, fragments."start", fragments.fragment_id
