-- question: which foreign fragments does one response carry, and how sure is each?
-- inputs:   fragments, verdicts
-- grain:    one row per fragment
-- parameters: request
-- order:    field, start
-- empty:    no foreign text was found in this response, or there is no such request
SELECT
    fragments.fragment_id,
    fragments.field,
    fragments."start",
    fragments."end",
    fragments.kind,
    coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict,
    fragments.bits,
    fragments.net_bits,
    fragments.q_value,
    fragments.sources,
    fragments.verdict_reason
FROM fragments
LEFT JOIN verdicts USING (fragment_id)
WHERE fragments.recipient_request_id = $request
ORDER BY fragments.field, fragments."start", fragments.fragment_id
