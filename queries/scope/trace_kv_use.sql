-- question: how full was the KV cache of each worker, over time, as its own lines say?
-- inputs:   engine_events
-- grain:    one row per worker and bucket with such a line; the highest share in the bucket
-- parameters: from_us, to_us, width_us (microseconds since 1970)
-- order:    worker, bucket
WITH shares AS (
    SELECT
        worker,
        epoch_us("at") AS moment,
        coalesce(
            (counts::JSON ->> 'token_usage')::DOUBLE,
            (counts::JSON ->> 'full_token_usage')::DOUBLE,
            (counts::JSON ->> 'gpu_token_usage')::DOUBLE,
            (counts::JSON ->> 'gpu_kv_cache_usage_percent')::DOUBLE / 100
        ) AS share
    FROM engine_events
    WHERE "at" IS NOT NULL AND worker IS NOT NULL AND contains(counts, 'usage')
)
SELECT worker, moment - moment % $width_us AS bucket_us, max(share) AS share
FROM shares
WHERE share IS NOT NULL AND moment BETWEEN $from_us AND $to_us
GROUP BY worker, bucket_us
ORDER BY worker, bucket_us
