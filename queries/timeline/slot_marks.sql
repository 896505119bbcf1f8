-- question: at which lines did a scheduler start, make its free list anew, or lose the order of it?
-- inputs:   engine_events
-- grain:    one row per such line
-- parameters: none
-- order:    evidence, byte_offset
SELECT
    evidence,
    byte_offset,
    worker,
    epoch_us("at") AS at_us,
    kind,
    TRY_CAST(counts ->> '$.max_running_requests' AS BIGINT) AS slots
FROM engine_events
WHERE kind IN ('scheduler_start', 'retraction', 'cache_flush')
ORDER BY evidence, byte_offset
