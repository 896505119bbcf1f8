-- question: how many responses did each worker finish over time, and how many of them carry foreign text?
-- inputs:   joined_requests, fragments
-- grain:    one row per worker and time bucket with a response
-- parameters: width_us (bucket width, microseconds)
-- order:    none (INSERT)
-- Affected by the machine's verdict alone: reviews and trials come later, in scope.
INSERT INTO worker_rates BY NAME
WITH affected AS (
    SELECT DISTINCT request
    FROM fragments
    WHERE machine_verdict = 'probable'
),
responses AS (
    SELECT
        coalesce(j.worker, 'unknown') AS worker,
        epoch_us(coalesce(j.finished_at, j.received_at)) AS moment,
        a.request IS NOT NULL AS affected
    FROM joined_requests AS j
    LEFT JOIN affected AS a ON a.request = j.request
    WHERE j.finished_at IS NOT NULL OR j.received_at IS NOT NULL
)
SELECT
    worker,
    make_timestamp(moment - moment % $width_us) AS bucket,
    count(*) AS responses,
    count(*) FILTER (WHERE affected) AS affected,
    'derived' AS basis
FROM responses
GROUP BY worker, bucket
