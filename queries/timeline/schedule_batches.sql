-- question: (effect) which forward passes do the engine's traces name, and whom do its status lines call running?
-- inputs:   engine_events, event_places
-- grain:    one row per batch id of a process that is kept
-- parameters: none
-- order:    none
-- Facts of a batch are read from one of its events: all repeat them.
CREATE OR REPLACE TEMP TABLE schedule_batches AS
WITH schedules AS (
    SELECT
        v.batch AS name,
        min(e.place) AS place,
        min(v."at") AS "at",
        max(v.counts) AS counts,
        min(e.mode) AS mode
    FROM engine_events AS v
    INNER JOIN event_places AS e
        ON e.source = 'schedule'
        AND e.worker IS NOT DISTINCT FROM v.worker AND e.attributes IS NOT DISTINCT FROM v.attributes
    WHERE v.kind = 'schedule' AND v.batch IS NOT NULL AND e.kept
    GROUP BY v.batch
)
SELECT
    'schedule' AS source,
    name,
    place,
    "at",
    TRY_CAST(counts ->> '$.batch_size' AS BIGINT) AS size,
    CASE WHEN mode IN ('prefill', 'decode', 'mixed') THEN mode ELSE 'other' END AS kind
FROM schedules
UNION ALL
SELECT
    'scheduler_status',
    v.evidence || '|' || v.batch,
    e.place,
    v."at",
    TRY_CAST(v.counts ->> '$.running' AS BIGINT),
    'running'
FROM engine_events AS v
INNER JOIN event_places AS e
    ON e.source = 'scheduler_status'
    AND e.worker IS NOT DISTINCT FROM v.worker AND e.attributes IS NOT DISTINCT FROM v.attributes
WHERE v.kind = 'scheduler_status' AND v.batch IS NOT NULL AND e.kept
