-- question: which fragments have several possible sources that cannot be told apart?
-- inputs:   fragments, verdicts
-- grain:    one row per fragment with two or more sources
-- parameters: none
-- order:    recipient_request_id, field, start
-- empty:    no fragment has two or more possible sources
SELECT
    fragments.fragment_id,
    fragments.recipient_request_id,
    fragments.recipient_tenant_id,
    fragments.field,
    fragments."start",
    fragments."end",
    fragments.sources,
    coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict
FROM fragments
LEFT JOIN verdicts USING (fragment_id)
WHERE len(fragments.sources) > 1
ORDER BY fragments.recipient_request_id, fragments.field, fragments."start", fragments.fragment_id
