-- question: (effect) which candidates does the time, the model or a count speak against?
-- inputs:   join_candidates, clock_estimates, request_rows, content_uses
-- grain:    one row per candidate that is refused
-- parameters: none
-- order:    none
-- An equal id is refused only where the time is far off (ten minutes, and twenty times what is usual), and no text is
-- equal. The weaker ids need more: one made without an engine's prefix, or one that may stand for several calls, joins
-- only where the inner call lies inside the outer one, or a text is equal.
UPDATE join_candidates
SET refused = found.reason
FROM (
    WITH compared AS (
        SELECT c.near, c.far, c.tier, c.near_vantage, c.far_vantage,
            c.tier = 3 OR (c.tier = 2 AND NOT contains(c.form, 'prefix') AND NOT contains(c.form, 'index')) AS weak,
            coalesce(e.n, v.n, 0) AS n,
            CASE WHEN coalesce(e.n, v.n, 0) >= 5 THEN coalesce(e.offset_us, v.offset_us) ELSE 0 END AS shift,
            5_000_000 + 5 * CASE WHEN coalesce(e.n, v.n, 0) >= 5 THEN coalesce(e.residual_us, v.residual_us) ELSE 0 END
                + CASE WHEN 's' IN (n.time_precision, f.time_precision) THEN 1_000_000 ELSE 0 END AS tolerance,
            20 * coalesce(e.residual_us, v.residual_us, 0) AS far_off,
            epoch_us(n.received_at) AS near_start, epoch_us(n.finished_at) AS near_end,
            epoch_us(f.received_at) AS far_start, epoch_us(f.finished_at) AS far_end,
            n.model <> f.model AS other_model,
            n.model AS near_model, f.model AS far_model,
            n.prompt_tokens <> f.prompt_tokens OR n.completion_tokens <> f.completion_tokens AS other_count
        FROM join_candidates c
        JOIN request_rows n ON n.key = c.near
        JOIN request_rows f ON f.key = c.far
        LEFT JOIN (FROM clock_estimates WHERE near_evidence IS NOT NULL AND n >= 5) e
            ON e.near_vantage = c.near_vantage AND e.far_vantage = c.far_vantage
            AND e.near_evidence = n.evidence AND e.far_evidence = f.evidence
        LEFT JOIN (FROM clock_estimates WHERE near_evidence IS NULL) v
            ON v.near_vantage = c.near_vantage AND v.far_vantage = c.far_vantage
    ),
    timed AS (
        SELECT *,
            far_start - near_start - shift AS starts,
            far_end - near_end - shift AS ends,
            CASE WHEN far_vantage = 'engine' THEN 1 ELSE -1 END AS inward
        FROM compared
    ),
    placed AS (
        SELECT *,
            inward * starts >= -tolerance AS starts_inside,
            inward * ends <= tolerance AS ends_inside,
            coalesce(abs(starts + ends) // 2, abs(starts), abs(ends)) AS distance,
            -- One end of each only: the start of one must not follow the end of the other.
            far_start - shift <= near_end + tolerance AND near_start <= far_end - shift + tolerance AS overlap
        FROM timed
    ),
    models AS (
        SELECT vantage, model, count(*) AS calls
        FROM request_rows
        WHERE model IS NOT NULL
        GROUP BY vantage, model
    ),
    suspects AS (
        SELECT near, far, tier,
            CASE
                WHEN tier = 1 AND n >= 20 AND distance > greatest(600_000_000, far_off) THEN 'time_differs'
                WHEN tier > 1 AND (starts_inside IS FALSE OR ends_inside IS FALSE OR overlap IS FALSE)
                    AND (n >= 5 OR weak) THEN 'time_differs'
                WHEN weak AND other_model
                    AND (EXISTS (FROM models m WHERE m.vantage = far_vantage AND m.model = near_model)
                        OR EXISTS (FROM models m WHERE m.vantage = near_vantage AND m.model = far_model))
                    THEN 'model_differs'
                WHEN weak AND other_count THEN 'tokens_differ'
                WHEN weak AND starts_inside IS NULL AND ends_inside IS NULL AND overlap IS NULL THEN 'not_corroborated'
            END AS reason
        FROM placed
    )
    SELECT s.near, s.far, s.tier, s.reason
    FROM suspects s
    WHERE s.reason IS NOT NULL
        AND (s.reason NOT IN ('time_differs', 'not_corroborated') OR NOT EXISTS (
            SELECT 1
            FROM content_uses a
            JOIN content_uses b ON b.side = a.side AND b.content = a.content
            WHERE a.key = s.near AND b.key = s.far AND a.role <> 'system'
        ))
) AS found
WHERE join_candidates.near = found.near AND join_candidates.far = found.far AND join_candidates.tier = found.tier
