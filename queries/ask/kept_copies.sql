-- question: was an affected response kept, sent on or used again, and was its deletion confirmed?
-- inputs:   affected_requests, joined_requests, answer_copies
-- grain:    one row per affected request
-- parameters: none
-- order:    received_at, request_id
-- empty:    no response is affected, so nothing need be deleted
-- Equal texts: another call was given the very same answer (a cache, a retry), or a later prompt of the same tenant carries
-- it (the customer's own program kept it). None of that says that nothing was kept elsewhere.
WITH uses AS (
    SELECT
        request,
        count(*) FILTER (WHERE side = 'response') AS same_answer_elsewhere,
        count(*) FILTER (WHERE side = 'prompt') AS later_prompts_with_it
    FROM answer_copies
    GROUP BY request
)
SELECT
    a.request_id,
    a.tenant_id,
    a.received_at,
    j.endpoint,
    coalesce(contains(lower(j.endpoint), 'batch'), FALSE) AS batch_output,
    j.stream AS streamed,
    coalesce(u.same_answer_elsewhere, 0) AS same_answer_elsewhere,
    coalesce(u.later_prompts_with_it, 0) AS later_prompts_with_it,
    'not known from logs: ask the customer' AS deletion
FROM affected_requests AS a
INNER JOIN joined_requests AS j ON j.request = a.request
LEFT JOIN uses AS u ON u.request = a.request
WHERE a.listed = 'affected'
ORDER BY a.received_at NULLS LAST, a.request_id, a.request
