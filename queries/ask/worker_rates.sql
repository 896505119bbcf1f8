-- question: on which workers and when were responses affected, out of how many, within which interval?
-- inputs:   worker_rates, slot_derivations
-- grain:    one row per worker x time bucket
-- parameters: none
-- order:    worker, bucket
-- empty:    no request has a finish time and a worker, or the timeline has not run
-- low to high: Wilson's score interval (95 %, z = 1.96). version: the engine's, where its logs tell.
WITH versions AS (
    SELECT worker, string_agg(DISTINCT version, ', ' ORDER BY version) AS version
    FROM slot_derivations
    WHERE version IS NOT NULL
    GROUP BY worker
)
SELECT
    r.worker,
    v.version,
    r.bucket,
    r.responses,
    r.affected,
    r.affected / nullif(r.responses, 0) AS share,
    CASE WHEN r.affected = 0 THEN 0.0 ELSE (r.affected + 1.9208 - 1.96 * sqrt(r.affected * (r.responses - r.affected) / nullif(r.responses, 0) + 0.9604)) / (nullif(r.responses, 0) + 3.8416) END AS low,
    least(1.0, (r.affected + 1.9208 + 1.96 * sqrt(r.affected * (r.responses - r.affected) / nullif(r.responses, 0) + 0.9604)) / (nullif(r.responses, 0) + 3.8416)) AS high,
    r.basis
FROM worker_rates AS r
LEFT JOIN versions AS v ON v.worker = r.worker
ORDER BY r.worker, r.bucket
