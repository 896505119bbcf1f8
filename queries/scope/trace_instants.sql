-- question: which events of a whole engine does the picture mark?
-- inputs:   engine_events
-- grain:    one row per event; the earliest of very many
-- parameters: from_us, to_us (microseconds since 1970)
-- order:    time, worker, kind
SELECT DISTINCT worker, epoch_us("at") AS moment, kind
FROM engine_events
WHERE kind IN (
        'cache_flush', 'kv_all_cleared', 'process_start', 'server_args', 'config_change', 'scheduler_start', 'kv_double_free',
        'kv_canary_violation', 'memory_leak', 'context_corruption'
    )
    AND worker IS NOT NULL
    AND epoch_us("at") BETWEEN $from_us AND $to_us
ORDER BY moment, worker, kind
LIMIT 2000
