-- question: how many fragments of each kind have each verdict?
-- inputs:   fragments, verdicts
-- grain:    one row per kind x verdict
-- parameters: none
-- order:    kind, verdict
-- empty:    no foreign text was found in what could be examined
SELECT
    fragments.kind,
    coalesce(verdicts.verdict, fragments.machine_verdict) AS verdict,
    count(*) AS fragments,
    count(DISTINCT fragments.request) AS requests,
    CAST(sum(fragments."end" - fragments."start") AS BIGINT) AS code_points
FROM fragments
LEFT JOIN verdicts USING (fragment_id)
GROUP BY ALL
ORDER BY fragments.kind, verdict
