-- question: (effect) which calls of two vantages may be one, by their texts and times?
-- inputs:   text_keys, request_rows, request_ids, join_keys, clock_estimates, content_uses, contents; join_candidates
-- grain:    one row per pair of calls that hold an equal text and could be one by their times
-- parameters: none
-- order:    none
-- What speaks against a pair: another prompt or response in the same place, another model that both vantages know,
-- another count of tokens, or an id of its own where ids of that kind join nearly all other calls. Times are compared
-- after the offset of the clocks, where five calls or more tell it.
INSERT INTO join_candidates BY NAME
WITH same_text AS (
    SELECT n.near_vantage, n.far_vantage, n.key AS near, f.key AS far,
        bool_or(n.told_by <> 'prompt') AS by_response,
        bool_or(n.told_by <> 'response') AS by_prompt,
        max(n.code_points) FILTER (WHERE n.calls = 1 AND f.calls = 1) AS unique_code_points,
        bool_or(n.told_by = 'both' AND n.calls = 1 AND f.calls = 1) AS unique_both
    FROM text_keys n
    JOIN text_keys f ON f.near_vantage = n.near_vantage AND f.far_vantage = n.far_vantage AND f.text_key = n.text_key
    WHERE n.near AND NOT f.near
    GROUP BY n.near_vantage, n.far_vantage, n.key, f.key
),
compared AS (
    SELECT s.*,
        CASE WHEN coalesce(e.n, v.n, 0) >= 5 THEN coalesce(e.offset_us, v.offset_us) ELSE 0 END AS shift,
        5_000_000 + 5 * CASE WHEN coalesce(e.n, v.n, 0) >= 5 THEN coalesce(e.residual_us, v.residual_us) ELSE 0 END
            + CASE WHEN 's' IN (n.time_precision, f.time_precision) THEN 1_000_000 ELSE 0 END AS tolerance,
        epoch_us(n.received_at) AS near_start, epoch_us(n.finished_at) AS near_end,
        epoch_us(f.received_at) AS far_start, epoch_us(f.finished_at) AS far_end,
        n.model AS near_model, f.model AS far_model,
        n.prompt_tokens <> f.prompt_tokens OR n.completion_tokens <> f.completion_tokens AS other_count
    FROM same_text s
    JOIN request_rows n ON n.key = s.near
    JOIN request_rows f ON f.key = s.far
    LEFT JOIN (FROM clock_estimates WHERE near_evidence IS NOT NULL AND n >= 5) e
        ON e.near_vantage = s.near_vantage AND e.far_vantage = s.far_vantage
        AND e.near_evidence = n.evidence AND e.far_evidence = f.evidence
    LEFT JOIN (FROM clock_estimates WHERE near_evidence IS NULL) v
        ON v.near_vantage = s.near_vantage AND v.far_vantage = s.far_vantage
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
        inward * starts >= -tolerance AND (ends IS NOT NULL OR inward * starts <= 60_000_000 + tolerance) AS starts_inside,
        inward * ends <= tolerance AND (starts IS NOT NULL OR inward * ends >= -60_000_000 - tolerance) AS ends_inside,
        far_start - shift <= near_end + tolerance AND near_start <= far_end - shift + tolerance AS overlap
    FROM timed
),
near_in_time AS (
    SELECT *, coalesce(starts_inside, ends_inside, overlap) IS NOT NULL AS has_time
    FROM placed
    WHERE starts_inside IS NOT FALSE AND ends_inside IS NOT FALSE AND overlap IS NOT FALSE
),
kept AS (
    SELECT *
    FROM near_in_time
    WHERE has_time OR unique_both OR unique_code_points >= 64
),
places AS (
    SELECT k.near, k.far, a.side, a.field, bool_or(a.content = b.content) AS equal
    FROM kept k
    JOIN content_uses a ON a.key = k.near
    JOIN content_uses b ON b.key = k.far AND b.side = a.side AND b.field = a.field
    GROUP BY k.near, k.far, a.side, a.field
),
other_text AS (
    SELECT near, far, bool_or(side = 'prompt') AS prompt, bool_or(side = 'response') AS response
    FROM places
    WHERE NOT equal
    GROUP BY near, far
),
-- An answer may have been given to the wrong call: that is what is looked for. Where only the answer is equal, the one
-- vantage's messages must all stand in the prompt that the other one logs as rendered.
by_answer AS (
    SELECT near, far, near AS messages_of, far AS prompt_of FROM kept WHERE NOT by_prompt
    UNION ALL
    SELECT near, far, far, near FROM kept WHERE NOT by_prompt
),
found_in AS (
    SELECT b.near, b.far, b.messages_of, m.field, any_value(x.code_points) AS code_points,
        bool_or(contains(y.text, trim(x.text, E' \n\t'))) AS found
    FROM by_answer b
    JOIN content_uses m ON m.key = b.messages_of AND m.side = 'prompt' AND m.field LIKE 'messages[%].content%'
    JOIN content_uses r ON r.key = b.prompt_of AND r.side = 'prompt' AND r.role = 'prompt'
    JOIN contents x ON x.content = m.content
    JOIN contents y ON y.content = r.content
    GROUP BY b.near, b.far, b.messages_of, m.field
),
rendered AS (
    SELECT near, far, bool_and(found) AND sum(code_points) >= 24 AS fits
    FROM found_in
    GROUP BY near, far
),
models AS (
    SELECT DISTINCT vantage, model
    FROM request_rows
    WHERE model IS NOT NULL
),
own_ids AS (
    SELECT vantage, kind, id, any_value(key) AS key
    FROM request_ids
    WHERE weight < 2
    GROUP BY vantage, kind, id
    HAVING count(*) = 1
),
own_counts AS (SELECT vantage, kind, count(*) AS ids FROM own_ids GROUP BY vantage, kind),
working AS (
    SELECT j.near_vantage, j.far_vantage, j.near_kind, j.far_kind
    FROM join_keys j
    JOIN own_counts n ON n.vantage = j.near_vantage AND n.kind = j.near_kind
    JOIN own_counts f ON f.vantage = j.far_vantage AND f.kind = j.far_kind
    GROUP BY j.near_vantage, j.far_vantage, j.near_kind, j.far_kind, n.ids, f.ids
    HAVING sum(j.one_to_one) >= 10 AND sum(j.one_to_one) >= 0.8 * least(n.ids, f.ids)
),
other_id AS (
    SELECT DISTINCT k.near, k.far
    FROM kept k
    JOIN working w ON w.near_vantage = k.near_vantage AND w.far_vantage = k.far_vantage
    JOIN own_ids a ON a.key = k.near AND a.kind = w.near_kind
    JOIN own_ids b ON b.key = k.far AND b.kind = w.far_kind
),
one_id AS (
    SELECT DISTINCT k.near, k.far
    FROM kept k
    JOIN request_ids a ON a.key = k.near AND a.weight < 2
    JOIN request_ids b ON b.key = k.far AND b.id = a.id AND b.weight < 2
)
SELECT
    k.near, k.far, k.near_vantage, k.far_vantage, 4 AS tier,
    CASE WHEN i.near IS NOT NULL THEN 0 ELSE 1 END AS rank,
    NULL::VARCHAR AS near_kind, NULL::VARCHAR AS far_kind,
    CASE
        WHEN k.by_response AND k.by_prompt THEN 'prompt and response'
        WHEN k.by_response THEN 'response'
        ELSE 'prompt'
    END AS form,
    CASE WHEN i.near IS NOT NULL THEN 'id_and_text' WHEN k.has_time THEN 'text_and_time' ELSE 'text' END AS basis,
    CASE
        WHEN i.near IS NULL AND d.near IS NOT NULL THEN 'ids_differ'
        WHEN k.near_model <> k.far_model
            AND ((k.far_vantage, k.near_model) IN (SELECT (vantage, model) FROM models)
                OR (k.near_vantage, k.far_model) IN (SELECT (vantage, model) FROM models)) THEN 'model_differs'
        WHEN k.other_count THEN 'tokens_differ'
        WHEN t.prompt THEN 'prompt_differs'
        WHEN t.response AND i.near IS NULL THEN 'response_differs'
        WHEN t.response AND NOT k.has_time THEN 'response_differs'
        WHEN NOT k.by_prompt AND NOT r.fits THEN 'prompt_differs'
        WHEN NOT k.by_prompt AND r.near IS NULL THEN 'not_corroborated'
    END AS refused
FROM kept k
LEFT JOIN other_text t ON t.near = k.near AND t.far = k.far
LEFT JOIN rendered r ON r.near = k.near AND r.far = k.far
LEFT JOIN other_id d ON d.near = k.near AND d.far = k.far
LEFT JOIN one_id i ON i.near = k.near AND i.far = k.far
