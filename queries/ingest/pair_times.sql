-- question: (effect) how do the times, models and counts of each pair of calls compare?
-- inputs:   open_pairs, request_rows, clock_estimates
-- grain:    one row per pair of calls
-- parameters: none
-- order:    none
-- Times are compared after the offset of the clocks, where five calls or more tell it. `starts` and `ends`: what the far
-- clock then shows more, in microseconds; times `inward`, it is positive where the inner call begins (ends) later.
CREATE OR REPLACE TEMP TABLE pair_times AS
WITH compared AS (
    SELECT p.near, p.far, p.near_vantage, p.far_vantage,
        coalesce(e.n, v.n, 0) AS n,
        CASE WHEN coalesce(e.n, v.n, 0) >= 5 THEN coalesce(e.offset_us, v.offset_us) ELSE 0 END AS shift,
        5_000_000 + 5 * CASE WHEN coalesce(e.n, v.n, 0) >= 5 THEN coalesce(e.residual_us, v.residual_us) ELSE 0 END
            + CASE WHEN 's' IN (n.time_precision, f.time_precision) THEN 1_000_000 ELSE 0 END AS tolerance,
        20 * coalesce(e.residual_us, v.residual_us, 0) AS far_off,
        epoch_us(n.received_at) AS near_start, epoch_us(n.finished_at) AS near_end,
        epoch_us(f.received_at) AS far_start, epoch_us(f.finished_at) AS far_end,
        n.model AS near_model, f.model AS far_model,
        n.prompt_tokens <> f.prompt_tokens OR n.completion_tokens <> f.completion_tokens AS other_count
    FROM open_pairs p
    JOIN request_rows n ON n.key = p.near
    JOIN request_rows f ON f.key = p.far
    LEFT JOIN (FROM clock_estimates WHERE near_evidence IS NOT NULL AND n >= 5) e
        ON e.near_vantage = p.near_vantage AND e.far_vantage = p.far_vantage
        AND e.near_evidence = n.evidence AND e.far_evidence = f.evidence
    LEFT JOIN (FROM clock_estimates WHERE near_evidence IS NULL) v
        ON v.near_vantage = p.near_vantage AND v.far_vantage = p.far_vantage
),
models AS (SELECT DISTINCT vantage, model FROM request_rows WHERE model IS NOT NULL)
SELECT near, far, n, tolerance, far_off,
    far_start - near_start - shift AS starts,
    far_end - near_end - shift AS ends,
    CASE WHEN far_vantage = 'engine' THEN 1 ELSE -1 END AS inward,
    -- One end of each only: the start of one must not follow the end of the other.
    far_start - shift <= near_end + tolerance AND near_start <= far_end - shift + tolerance AS overlap,
    -- A name that the other vantage does not know may be an alias.
    near_model <> far_model
        AND ((far_vantage, near_model) IN (SELECT (vantage, model) FROM models)
            OR (near_vantage, far_model) IN (SELECT (vantage, model) FROM models)) AS other_model,
    other_count
FROM compared
