-- question: what do the logs tell of the engine: its settings, its version?
-- inputs:   engine_events
-- grain:    one row per fact
-- parameters: none
-- order:    kind, value
SELECT DISTINCT kind, attributes AS value
FROM engine_events
WHERE kind IN ('server_args', 'engine_release') AND attributes IS NOT NULL
UNION
SELECT DISTINCT 'version', attributes::JSON ->> '$.sglang'
FROM engine_events
WHERE kind = 'probe_start' AND attributes::JSON ->> '$.sglang' IS NOT NULL
ORDER BY kind, value
