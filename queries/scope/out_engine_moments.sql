-- question: what happened to whole engines, and when did the fault begin and end?
-- inputs:   engine_events, fault_window
-- grain:    one row per event, and one per end of the fault that could be dated
-- parameters: none
-- order:    time, description, worker
WITH moments AS (
    SELECT DISTINCT "at", kind AS description, worker, NULL::TIMESTAMP AS low, NULL::TIMESTAMP AS high
    FROM engine_events
    WHERE kind IN (
            'cache_flush', 'kv_all_cleared', 'process_start', 'server_args', 'config_change', 'scheduler_start', 'kv_double_free',
            'kv_canary_violation', 'memory_leak', 'context_corruption', 'retraction'
        )
    UNION ALL
    SELECT "at", 'fault_' || bound, worker, low, high
    FROM fault_window
    WHERE worker IS NULL
)
SELECT
    strftime("at", '%Y-%m-%dT%H:%M:%S.%f+00:00') AS datetime,
    epoch_us("at") AS timestamp,
    description,
    worker,
    strftime(low, '%Y-%m-%dT%H:%M:%S.%fZ') AS low,
    strftime(high, '%Y-%m-%dT%H:%M:%S.%fZ') AS high
FROM moments
WHERE "at" IS NOT NULL
ORDER BY timestamp, description, worker NULLS FIRST
