-- question: how many responses carried foreign text over time, and of how many in all?
-- inputs:   joined_requests, affected_requests
-- grain:    one row per time bucket with a request
-- parameters: width_us (bucket width, microseconds)
-- order:    bucket
WITH moments AS (
    SELECT
        epoch_us(j.received_at) - epoch_us(j.received_at) % $width_us AS bucket_us,
        a.listed
    FROM joined_requests AS j
    LEFT JOIN affected_requests AS a ON a.request = j.request
    WHERE j.received_at IS NOT NULL
)
SELECT
    bucket_us,
    strftime(make_timestamp(bucket_us), '%Y-%m-%d %H:%M:%S') AS bucket,
    count(*) AS responses,
    count(*) FILTER (WHERE listed = 'affected') AS affected,
    count(*) FILTER (WHERE listed = 'possible') AS possible
FROM moments
GROUP BY bucket_us
ORDER BY bucket_us
