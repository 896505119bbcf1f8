-- question: (effect) from when to when did the engine work on each call, as the engine says?
-- inputs:   batch_members, batches, time_stats, request_workers
-- grain:    one row per call that forward passes or lines of times name
-- parameters: none
-- order:    none (INSERT)
-- Forward passes first: the first to the last that the call had a row in. Else admission to end by the scheduler's line:
-- `derived`, since it adds durations to a time (0.9, or 0.8 where that time is of a clock that the stamps had to tie to the day).
INSERT INTO residencies BY NAME
WITH passes AS (
    SELECT m.request, min(b."at") AS starts, max(b."at") AS ends, min(b.source) AS source
    FROM batch_members AS m
    INNER JOIN batches AS b ON b.batch = m.batch
    WHERE b."at" IS NOT NULL AND b.kind <> 'running'
    GROUP BY m.request
),
lines AS (
    SELECT request, admitted_us, done_us, regime
    FROM time_stats
    WHERE request IS NOT NULL AND admitted_us IS NOT NULL AND done_us >= admitted_us
    QUALIFY row_number() OVER (PARTITION BY request ORDER BY done_us DESC, line) = 1
)
SELECT
    w.request,
    w.worker,
    NULL::VARCHAR AS slot,
    'run' AS phase,
    coalesce(p.starts, make_timestamp(l.admitted_us)) AS "start",
    coalesce(p.ends, make_timestamp(l.done_us)) AS "end",
    CASE WHEN p.request IS NOT NULL THEN 'logged' ELSE 'derived' END AS basis,
    CASE WHEN p.request IS NOT NULL THEN 1.0 WHEN l.regime = 'entry_time' THEN 0.9 ELSE 0.8 END AS confidence,
    coalesce(p.source, 'time_stats') AS source
FROM request_workers AS w
LEFT JOIN passes AS p ON p.request = w.request
LEFT JOIN lines AS l ON l.request = w.request
WHERE p.request IS NOT NULL OR l.request IS NOT NULL
