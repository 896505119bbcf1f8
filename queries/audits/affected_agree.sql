-- question: (audit) where do the list of affected requests and the verdicts disagree?
-- inputs:   affected_requests, fragments, verdicts, stages
-- grain:    one row per bad request
-- parameters: none
-- order:    subject, problem
WITH expected AS (
    SELECT
        fragments.request,
        bool_or(verdicts.verdict IN ('confirmed', 'probable')) AS affected
    FROM fragments
    JOIN verdicts USING (fragment_id)
    WHERE verdicts.verdict <> 'excluded'
    GROUP BY fragments.request
)
SELECT 'request ' || expected.request AS subject, 'carries fragments but is in no list' AS problem
FROM expected
ANTI JOIN affected_requests USING (request)
WHERE EXISTS (SELECT 1 FROM stages WHERE stage = 'scope')
UNION ALL
SELECT 'request ' || affected_requests.request, 'is listed as affected without a fragment that is probable or better'
FROM affected_requests
LEFT JOIN expected USING (request)
WHERE affected_requests.listed = 'affected' AND NOT coalesce(expected.affected, FALSE)
UNION ALL
SELECT 'request ' || affected_requests.request, 'has a probable fragment but is not listed as affected'
FROM affected_requests
JOIN expected USING (request)
WHERE affected_requests.listed <> 'affected' AND expected.affected
ORDER BY subject, problem
