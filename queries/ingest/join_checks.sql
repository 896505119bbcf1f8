-- question: (effect) which candidates does the time, the model, a count or the prompt speak against?
-- inputs:   join_candidates, pair_times, prompt_checks, content_uses
-- grain:    one row per candidate that is refused or in doubt
-- parameters: none
-- order:    none
-- An equal id is refused only where the time is far off (ten minutes, and twenty times what is usual), and no text is
-- equal. The weaker ids need more: one made without an engine's prefix, or one that may stand for several calls, joins
-- only where the inner call lies inside the outer one, or a text is equal. An id that came with the body of an answer
-- may have come with it to the wrong call: it joins nothing that another id joins elsewhere, and no other prompts; where
-- these tell nothing, the basis says so.
UPDATE join_candidates
SET refused = found.reason, basis = CASE WHEN found.doubt THEN basis || '_no_prompt' ELSE basis END
FROM (
    WITH compared AS (
        SELECT c.near, c.far, c.tier, c.near_vantage, c.far_vantage, c.brought,
            c.tier = 3 OR (c.tier = 2 AND NOT contains(c.form, 'prefix') AND NOT contains(c.form, 'index')) AS weak,
            t.* EXCLUDE (near, far),
            t.inward * t.starts >= -t.tolerance AS starts_inside,
            t.inward * t.ends <= t.tolerance AS ends_inside,
            coalesce(abs(t.starts + t.ends) // 2, abs(t.starts), abs(t.ends)) AS distance,
            p.prompts
        FROM join_candidates c
        JOIN pair_times t ON t.near = c.near AND t.far = c.far
        LEFT JOIN prompt_checks p ON p.near = c.near AND p.far = c.far
    ),
    own AS (SELECT near, far, near_vantage, far_vantage FROM join_candidates WHERE tier < 3 AND NOT brought),
    suspects AS (
        SELECT near, far, tier, brought,
            CASE
                WHEN prompts = 'differ' THEN 'prompt_differs'
                WHEN brought AND (
                    EXISTS (FROM own o WHERE o.near = c.near AND o.far_vantage = c.far_vantage AND o.far <> c.far)
                    OR EXISTS (FROM own o WHERE o.far = c.far AND o.near_vantage = c.near_vantage AND o.near <> c.near)
                ) THEN 'ids_differ'
                WHEN tier = 1 AND n >= 20 AND distance > greatest(600_000_000, far_off) THEN 'time_differs'
                WHEN tier > 1 AND (starts_inside IS FALSE OR ends_inside IS FALSE OR overlap IS FALSE)
                    AND (n >= 5 OR weak) THEN 'time_differs'
                WHEN weak AND other_model THEN 'model_differs'
                WHEN weak AND other_count THEN 'tokens_differ'
                WHEN weak AND starts_inside IS NULL AND ends_inside IS NULL AND overlap IS NULL THEN 'not_corroborated'
            END AS reason,
            coalesce(brought AND prompts = 'unknown', FALSE) AS doubt
        FROM compared c
    )
    SELECT s.near, s.far, s.tier, s.doubt,
        -- An equal answer says no more than the id that came with it.
        CASE
            WHEN s.reason IN ('time_differs', 'not_corroborated') AND EXISTS (
                SELECT 1
                FROM content_uses a
                JOIN content_uses b ON b.side = a.side AND b.content = a.content
                WHERE a.key = s.near AND b.key = s.far AND a.role <> 'system'
                    AND (a.side = 'prompt' OR NOT s.brought)
            ) THEN NULL
            ELSE s.reason
        END AS reason
    FROM suspects s
    WHERE s.reason IS NOT NULL OR s.doubt
) AS found
WHERE join_candidates.near = found.near AND join_candidates.far = found.far AND join_candidates.tier = found.tier
