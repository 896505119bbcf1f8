-- question: (effect) how far apart are the times of each pair of rows?
-- inputs:   clock_calls, request_rows
-- grain:    one row per pair of calls of which both have a start, or both an end
-- parameters: none
-- order:    none
-- Microseconds, the far clock less the near one. A call lies inside itself as the vantage farther out saw it (client
-- around gateway around engine): each call gives a least and a most for the offset, and their middle as an estimate.
CREATE OR REPLACE TEMP TABLE clock_differences AS
WITH ends AS (
    SELECT c.near, c.far, c.near_vantage, c.far_vantage, c.told_by, n.evidence AS near_evidence, f.evidence AS far_evidence,
        epoch_us(f.received_at) - epoch_us(n.received_at) AS starts,
        epoch_us(f.finished_at) - epoch_us(n.finished_at) AS ends,
        greatest(
            CASE n.time_precision WHEN 's' THEN 1_000_000 WHEN 'ms' THEN 1_000 ELSE 1 END,
            CASE f.time_precision WHEN 's' THEN 1_000_000 WHEN 'ms' THEN 1_000 ELSE 1 END
        ) AS slack,
        c.far_vantage = 'engine' AS inward
    FROM clock_calls c
    JOIN request_rows n ON n.key = c.near
    JOIN request_rows f ON f.key = c.far
)
SELECT near, far, near_vantage, far_vantage, told_by, near_evidence, far_evidence,
    (coalesce(starts, ends) + coalesce(ends, starts)) // 2 AS middle,
    CASE WHEN inward THEN ends ELSE starts END - slack AS least,
    CASE WHEN inward THEN starts ELSE ends END + slack AS most,
    starts IS NOT NULL AND ends IS NOT NULL AS two_ended
FROM ends
WHERE coalesce(starts, ends) IS NOT NULL
