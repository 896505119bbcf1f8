-- question: how many requests were in flight on each worker, over time?
-- inputs:   residencies
-- grain:    one row per worker and bucket in which the number changed; the highest number in the bucket
-- parameters: from_us, to_us, width_us (microseconds since 1970)
-- order:    worker, bucket
WITH changes AS (
    SELECT worker, epoch_us("start") AS moment, 1 AS step
    FROM residencies
    WHERE phase = 'serve'
    UNION ALL
    SELECT worker, epoch_us("end"), -1
    FROM residencies
    WHERE phase = 'serve'
),
steps AS (
    SELECT worker, moment, sum(step)::BIGINT AS step
    FROM changes
    GROUP BY worker, moment
),
running AS (
    SELECT worker, moment, sum(step) OVER (PARTITION BY worker ORDER BY moment) AS in_flight
    FROM steps
)
SELECT
    worker,
    moment - moment % $width_us AS bucket_us,
    max(in_flight)::BIGINT AS in_flight
FROM running
WHERE moment BETWEEN $from_us AND $to_us
GROUP BY worker, bucket_us
ORDER BY worker, bucket_us
