-- question: which foreign fragments have no source in the evidence, and could that be because the evidence is incomplete?
-- inputs:   fragments, verdicts, joined_requests
-- grain:    one row per fragment without a source
-- parameters: none
-- order:    recipient_request_id, field, start
-- empty:    every fragment has a source in the evidence, or there is no fragment
-- unread_before of requests_before: requests received before this response finished whose prompt or response is not there
-- in full. Where that is none, the text came from outside these logs, or from the model.
WITH running AS (
    SELECT
        received_at,
        count(*) OVER received AS requests_before,
        count(*) FILTER (WHERE prompt_state <> 'full' OR response_state <> 'full') OVER received AS unread_before
    FROM joined_requests
    WHERE received_at IS NOT NULL
    WINDOW received AS (ORDER BY received_at)
),
moments AS (
    SELECT DISTINCT received_at, requests_before, unread_before
    FROM running
),
alone AS (
    SELECT f.*, coalesce(j.finished_at, j.received_at) AS known_until
    FROM fragments AS f
    LEFT JOIN joined_requests AS j ON j.request = f.request
    WHERE len(f.sources) = 0
)
SELECT
    f.fragment_id,
    f.recipient_request_id,
    f.recipient_tenant_id,
    f.field,
    f."start",
    f."end",
    f.kind,
    coalesce(v.verdict, f.machine_verdict) AS verdict,
    f.verdict_reason,
    m.unread_before,
    m.requests_before,
    CASE
        WHEN m.requests_before IS NULL THEN 'not known: no times'
        WHEN m.unread_before > 0 THEN 'yes: a source may be among what could not be read'
        ELSE 'only if a log is missing: every earlier request given was read in full'
    END AS incomplete
FROM alone AS f
ASOF LEFT JOIN moments AS m ON f.known_until >= m.received_at
LEFT JOIN verdicts AS v ON v.fragment_id = f.fragment_id
ORDER BY f.recipient_request_id, f.field, f."start", f.fragment_id
