-- question: how many requests were in the forward passes of each worker, over time?
-- inputs:   batches, batch_members
-- grain:    one row per worker and bucket with a pass; the largest pass in the bucket
-- parameters: from_us, to_us, width_us (microseconds since 1970)
-- order:    worker, bucket
WITH sizes AS (
    SELECT b.worker, epoch_us(b."at") AS moment, coalesce(b.size, count(m.request)) AS size
    FROM batches AS b
    LEFT JOIN batch_members AS m ON m.batch = b.batch
    WHERE b."at" IS NOT NULL
    GROUP BY b.batch, b.worker, b."at", b.size
)
SELECT worker, moment - moment % $width_us AS bucket_us, max(size)::BIGINT AS size
FROM sizes
WHERE moment BETWEEN $from_us AND $to_us
GROUP BY worker, bucket_us
ORDER BY worker, bucket_us
