-- question: how many responses carried foreign text over time, and of how many in all?
-- inputs:   joined_requests, affected_requests
-- grain:    one row per time bucket from the first request to the last, empty ones included
-- parameters: width_us (bucket width, microseconds)
-- order:    bucket
WITH moments AS (
    SELECT
        epoch_us(j.received_at) - epoch_us(j.received_at) % $width_us AS bucket_us,
        a.listed,
        j.examinable OR a.listed = 'affected' AS examined
    FROM joined_requests AS j
    LEFT JOIN affected_requests AS a ON a.request = j.request
    WHERE j.received_at IS NOT NULL
),
counted AS (
    SELECT
        bucket_us,
        count(*) AS responses,
        count(*) FILTER (WHERE examined) AS examined,
        count(*) FILTER (WHERE listed = 'affected') AS affected,
        count(*) FILTER (WHERE listed = 'possible') AS possible
    FROM moments
    GROUP BY bucket_us
),
-- Receive times can span more than the finish times that the width was chosen for; a bound keeps the series short.
series AS (
    SELECT unnest(range(min(bucket_us), least(max(bucket_us), min(bucket_us) + 999::BIGINT * $width_us) + 1, $width_us)) AS bucket_us
    FROM counted
),
buckets AS (
    SELECT bucket_us FROM series
    UNION
    SELECT bucket_us FROM counted
)
SELECT
    b.bucket_us,
    strftime(
        make_timestamp(b.bucket_us),
        CASE WHEN $width_us % 60000000 = 0 THEN '%Y-%m-%d %H:%M' ELSE '%Y-%m-%d %H:%M:%S' END
    ) AS bucket,
    coalesce(c.responses, 0) AS responses,
    coalesce(c.examined, 0) AS examined,
    coalesce(c.affected, 0) AS affected,
    coalesce(c.possible, 0) AS possible
FROM buckets AS b
LEFT JOIN counted AS c ON c.bucket_us = b.bucket_us
ORDER BY b.bucket_us
