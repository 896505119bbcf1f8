-- question: (effect) on which scheduler did each call run?
-- inputs:   joined_requests, batch_rows, batch_keys, slot_stays, time_stats, place_workers
-- grain:    one row per call
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE request_workers AS
WITH told AS (
    SELECT request, place FROM slot_stays WHERE request IS NOT NULL
    UNION ALL
    SELECT r.request, k.place
    FROM batch_rows AS r
    INNER JOIN batch_keys AS k ON k.batch = r.batch
    UNION ALL
    SELECT request, place FROM time_stats WHERE request IS NOT NULL
),
placed AS (
    SELECT t.request, min(p.worker) AS worker
    FROM told AS t
    INNER JOIN place_workers AS p ON p.place = t.place
    GROUP BY t.request
)
SELECT j.request, coalesce(p.worker, j.worker, 'unknown') AS worker, p.worker IS NOT NULL OR j.worker IS NOT NULL AS known
FROM joined_requests AS j
LEFT JOIN placed AS p ON p.request = j.request
