-- question: which engine events could begin or end a fault?
-- inputs:   engine_events
-- grain:    one row per event
-- parameters: none
-- order:    time, kind, worker
SELECT DISTINCT worker, "at", kind
FROM engine_events
WHERE kind IN ('cache_flush', 'kv_all_cleared', 'process_start', 'server_args', 'config_change') AND "at" IS NOT NULL
ORDER BY "at", kind, worker
