-- question: what share of the window could not be examined, per tenant and hour?
-- inputs:   joined_requests, affected_requests
-- grain:    one row per hour x tenant (null: nobody is named) with a request in the window
-- parameters: none
-- order:    hour, tenant_id
-- empty:    no request of the evidence has a receive time in the window
-- Window: from the first to the last affected response, in whole hours; all of the evidence where nothing is affected.
WITH ends AS (
    SELECT
        date_trunc('hour', min(received_at)) AS low,
        date_trunc('hour', max(received_at)) AS high
    FROM affected_requests
    WHERE listed = 'affected'
)
SELECT
    date_trunc('hour', j.received_at) AS hour,
    j.tenant_id,
    count(*) AS requests,
    count(*) FILTER (WHERE NOT j.examinable) AS not_examinable,
    count(*) FILTER (WHERE NOT j.examinable) / count(*) AS share,
    list_sort(coalesce(list(DISTINCT j.examinable_reason) FILTER (WHERE NOT j.examinable), [])) AS reasons
FROM joined_requests AS j
CROSS JOIN ends AS e
WHERE e.low IS NULL OR date_trunc('hour', j.received_at) BETWEEN e.low AND e.high
GROUP BY hour, j.tenant_id
ORDER BY hour NULLS LAST, j.tenant_id NULLS LAST
