-- question: (effect) which calls of two vantages may be one, by their texts and times?
-- inputs:   timed_pairs, prompt_finds, request_ids, join_keys, content_uses; adds to join_candidates
-- grain:    one row per pair of calls that hold an equal text and could be one by their times
-- parameters: none
-- order:    none
-- What speaks against a pair: another prompt or response in the same place, another model that both vantages know,
-- another count of tokens, or an id of its own where ids of that kind join nearly all other calls.
INSERT INTO join_candidates BY NAME
WITH places AS (
    SELECT k.near, k.far, a.side, a.field, bool_or(a.content = b.content) AS equal
    FROM timed_pairs k
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
-- Where only the answer is equal, the one vantage's messages must all stand in the prompt that the other one logs as rendered.
rendered AS (
    SELECT near, far, bool_and(rendered) AND sum(code_points) >= 24 AS fits
    FROM prompt_finds
    WHERE rendered IS NOT NULL
    GROUP BY near, far
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
    FROM timed_pairs k
    JOIN working w ON w.near_vantage = k.near_vantage AND w.far_vantage = k.far_vantage
    JOIN own_ids a ON a.key = k.near AND a.kind = w.near_kind
    JOIN own_ids b ON b.key = k.far AND b.kind = w.far_kind
),
one_id AS (
    SELECT DISTINCT k.near, k.far
    FROM timed_pairs k
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
        WHEN k.other_model THEN 'model_differs'
        WHEN k.other_count THEN 'tokens_differ'
        WHEN t.prompt THEN 'prompt_differs'
        WHEN t.response AND i.near IS NULL THEN 'response_differs'
        WHEN t.response AND NOT k.has_time THEN 'response_differs'
        WHEN NOT k.by_prompt AND NOT r.fits THEN 'prompt_differs'
        WHEN NOT k.by_prompt AND r.near IS NULL THEN 'not_corroborated'
    END AS refused
FROM timed_pairs k
LEFT JOIN other_text t ON t.near = k.near AND t.far = k.far
LEFT JOIN rendered r ON r.near = k.near AND r.far = k.far
LEFT JOIN other_id d ON d.near = k.near AND d.far = k.far
LEFT JOIN one_id i ON i.near = k.near AND i.far = k.far
