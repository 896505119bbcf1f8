-- question: (effect) which forward passes make the timeline, each from the best source that tells its worker's at that time?
-- inputs:   batch_keys, place_workers, event_places, engine_events
-- grain:    one row per forward pass
-- parameters: none
-- order:    none (INSERT)
-- Where the probe wrote, traces repeat it; where either wrote, a status line is a sample of what is known already.
-- The probe sees rows given before the first pass with them, and its last pass lasts until its end: a trace's event or a status
-- line in between is no news.
INSERT INTO batches BY NAME
WITH ranked AS (
    SELECT k.*, p.worker, list_position(['probe', 'schedule', 'scheduler_status'], k.source) AS rank
    FROM batch_keys AS k
    INNER JOIN place_workers AS p ON p.place = k.place
),
probes AS (
    SELECT DISTINCT e.worker AS name, p.worker
    FROM event_places AS e
    INNER JOIN place_workers AS p ON p.place = e.place
    WHERE e.source = 'probe'
),
watched AS (
    SELECT worker, rank, "at"
    FROM ranked
    UNION ALL
    SELECT p.worker, 1, v."at"
    FROM engine_events AS v
    INNER JOIN probes AS p ON p.name IS NOT DISTINCT FROM v.worker
    WHERE v.kind IN ('probe_slot_alloc', 'probe_batch_end', 'probe_batch_repeat')
),
spans AS (
    SELECT worker, rank, min("at") AS first_at, max("at") AS last_at
    FROM watched
    GROUP BY worker, rank
),
covered AS (
    SELECT r.batch
    FROM ranked AS r
    INNER JOIN spans AS s ON s.worker = r.worker AND s.rank < r.rank AND r."at" BETWEEN s.first_at AND s.last_at
)
SELECT
    r.batch,
    r.worker,
    r.iteration,
    r."at",
    r.kind,
    'logged' AS basis,
    r.size,
    1.0 AS confidence,
    r.source
FROM ranked AS r
ANTI JOIN covered AS c ON c.batch = r.batch
