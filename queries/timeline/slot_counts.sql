-- question: how many requests did the schedulers say were running, and when?
-- inputs:   engine_events
-- grain:    one row per line of decode batches with a count, and per line of who runs
-- parameters: none
-- order:    evidence, byte_offset
SELECT
    evidence,
    byte_offset,
    worker,
    epoch_us("at") AS at_us,
    TRY_CAST(coalesce(counts ->> '$.running_req', counts ->> '$.running') AS BIGINT) AS running
FROM engine_events
WHERE kind IN ('decode_batch', 'scheduler_status') AND "at" IS NOT NULL
    AND coalesce(counts ->> '$.running_req', counts ->> '$.running') IS NOT NULL
ORDER BY evidence, byte_offset
