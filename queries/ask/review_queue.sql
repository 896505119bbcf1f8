-- question: which fragments has no person decided on yet, the strongest first?
-- inputs:   fragments, verdicts, reviews
-- grain:    one row per fragment without a review
-- parameters: none
-- order:    net_bits descending, fragment_id
-- empty:    every fragment has a decision, or there is no fragment
SELECT
    fragments.fragment_id,
    fragments.recipient_request_id,
    fragments.field,
    fragments."start",
    fragments."end",
    fragments.kind,
    coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict,
    fragments.net_bits,
    fragments.sources
FROM fragments
LEFT JOIN verdicts USING (fragment_id)
ANTI JOIN reviews USING (fragment_id)
ORDER BY fragments.net_bits DESC, fragments.fragment_id
