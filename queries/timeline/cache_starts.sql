-- question: on which workers, and when, do the logs show a prefix cache that begins empty?
-- inputs:   engine_events, event_places, place_workers, probe_batches
-- grain:    one row per start of a scheduler, flush of its cache, or first pass of a process
-- parameters: none
-- order:    worker, at_us
WITH named AS (
    SELECT DISTINCT e.worker AS event_worker, e.attributes, p.worker
    FROM event_places AS e
    INNER JOIN place_workers AS p ON p.place = e.place
    WHERE e.source = 'log'
),
starts AS (
    SELECT n.worker, epoch_us(v."at") AS at_us
    FROM engine_events AS v
    INNER JOIN named AS n
        ON n.event_worker IS NOT DISTINCT FROM v.worker AND n.attributes IS NOT DISTINCT FROM v.attributes
    WHERE v.kind IN ('scheduler_start', 'cache_flush')
    UNION
    SELECT p.worker, min(epoch_us(b."at"))
    FROM probe_batches AS b
    INNER JOIN place_workers AS p ON p.place = b.place
    GROUP BY p.worker, b.place
    HAVING min(b.iteration) <= 2
    UNION
    SELECT p.worker, epoch_us(v."at")
    FROM engine_events AS v
    INNER JOIN event_places AS e
        ON e.source = 'probe'
        AND e.worker IS NOT DISTINCT FROM v.worker AND e.attributes IS NOT DISTINCT FROM v.attributes
    INNER JOIN place_workers AS p ON p.place = e.place
    WHERE v.kind = 'probe_flush' AND v.attributes ->> '$.ok' = 'true'
)
SELECT worker, at_us
FROM starts
WHERE at_us IS NOT NULL
ORDER BY worker, at_us
