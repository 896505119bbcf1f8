-- question: which fragments do these responses carry?
-- inputs:   fragments, verdicts
-- grain:    one row per fragment
-- parameters: requests
-- order:    request, field, start
SELECT
    fragments.request,
    fragments.field,
    fragments."start",
    fragments."end",
    fragments.fragment_id,
    coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict
FROM fragments
LEFT JOIN verdicts USING (fragment_id)
WHERE list_contains($requests, fragments.request)
ORDER BY fragments.request, fragments.field, fragments."start", fragments.fragment_id
