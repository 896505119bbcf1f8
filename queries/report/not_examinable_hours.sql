-- question: how much of each hour could not be examined?
-- inputs:   joined_requests
-- grain:    one row per hour of receipt (null: no time)
-- parameters: none
-- order:    hour
SELECT
    epoch_us(date_trunc('hour', received_at)) AS hour_us,
    count(*) AS requests,
    count(*) FILTER (WHERE NOT examinable) AS not_examinable,
    count(DISTINCT tenant_id) FILTER (WHERE NOT examinable) AS tenants
FROM joined_requests
GROUP BY hour_us
ORDER BY hour_us NULLS LAST
