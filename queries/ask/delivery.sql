-- question: is there evidence that an affected response was returned, viewed or used, or only that it was generated?
-- inputs:   affected_requests, joined_requests, requests, answer_copies
-- grain:    one row per affected request
-- parameters: none
-- order:    received_at, request_id
-- empty:    no response is affected
-- A later stage is never inferred from an earlier one. Returned: a client's log holds the answer, or a later prompt of the
-- same tenant carries it. No log of a server can show that a person read something.
WITH came_back AS (
    SELECT DISTINCT request
    FROM answer_copies
    WHERE side = 'prompt'
),
at_client AS (
    SELECT DISTINCT request
    FROM requests
    WHERE vantage = 'client' AND response_state IN ('full', 'truncated', 'partial_stream')
)
SELECT
    a.request_id,
    a.tenant_id,
    a.received_at,
    j.status,
    j.finish_reason,
    'yes' AS "generated",
    CASE
        WHEN c.request IS NOT NULL AND b.request IS NOT NULL THEN 'yes: in a client''s log, and in a later prompt'
        WHEN c.request IS NOT NULL THEN 'yes: in a client''s log'
        WHEN b.request IS NOT NULL THEN 'yes: in a later prompt of the customer'
        ELSE 'not shown by these logs'
    END AS returned,
    'not shown by these logs' AS viewed
FROM affected_requests AS a
INNER JOIN joined_requests AS j ON j.request = a.request
LEFT JOIN at_client AS c ON c.request = a.request
LEFT JOIN came_back AS b ON b.request = a.request
WHERE a.listed = 'affected'
ORDER BY a.received_at NULLS LAST, a.request_id, a.request
