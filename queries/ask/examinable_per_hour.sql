-- question: what share of the requests of each hour can be examined, and what do the others lack?
-- inputs:   joined_requests
-- grain:    one row per hour of receipt (null: no time) x examinable reason
-- parameters: none
-- order:    hour, reason
-- empty:    there are no requests in the evidence
WITH reasons AS (
    SELECT date_trunc('hour', received_at) AS hour, examinable_reason AS reason, examinable, count(*) AS requests
    FROM joined_requests
    GROUP BY ALL
)
SELECT
    hour,
    reason,
    examinable,
    requests,
    CAST(sum(requests) OVER (PARTITION BY hour) AS BIGINT) AS requests_in_hour,
    requests / sum(requests) OVER (PARTITION BY hour) AS share
FROM reasons
ORDER BY hour NULLS LAST, reason, examinable
