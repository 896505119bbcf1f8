-- question: (effect) which texts could tell a call that no id joins?
-- inputs:   request_rows, join_links, content_uses, contents
-- grain:    one row per pair of vantages x call without a link between them x text that may tell it
-- parameters: none
-- order:    none
-- One text of a response, or the whole of a prompt, of 24 code points or more; or all of both. A text that more than 32
-- calls of a vantage hold tells nothing.
CREATE OR REPLACE TEMP TABLE text_keys AS
WITH pairs(near_vantage, far_vantage) AS (VALUES ('gateway', 'engine'), ('gateway', 'client'), ('engine', 'client')),
open_calls AS (
    SELECT p.near_vantage, p.far_vantage, q.key, TRUE AS near
    FROM pairs p
    JOIN request_rows q ON q.vantage = p.near_vantage
    ANTI JOIN join_links l ON l.near = q.key AND l.far_vantage = p.far_vantage
    UNION ALL
    SELECT p.near_vantage, p.far_vantage, q.key, FALSE
    FROM pairs p
    JOIN request_rows q ON q.vantage = p.far_vantage
    ANTI JOIN join_links l ON l.far = q.key AND l.near_vantage = p.near_vantage
),
two_sided AS (
    SELECT near_vantage, far_vantage
    FROM open_calls
    GROUP BY near_vantage, far_vantage
    HAVING bool_or(near) AND NOT bool_and(near)
),
texts AS (
    SELECT DISTINCT u.key, u.side, u.content, c.code_points
    FROM content_uses u
    JOIN contents c ON c.content = u.content
    WHERE u.key IN (SELECT key FROM open_calls SEMI JOIN two_sided USING (near_vantage, far_vantage))
),
wholes AS (
    SELECT key, side, string_agg(content, ',' ORDER BY content) AS texts, sum(code_points) AS code_points
    FROM texts
    GROUP BY key, side
),
keys AS (
    SELECT key, 'response' AS told_by, 'r' || content AS text_key, code_points
    FROM texts
    WHERE side = 'response' AND code_points >= 24
    UNION ALL
    SELECT key, 'prompt', 'p' || texts, code_points
    FROM wholes
    WHERE side = 'prompt' AND code_points >= 24
    UNION ALL
    SELECT p.key, 'both', 'p' || p.texts || 'r' || r.texts, p.code_points + r.code_points
    FROM wholes p
    JOIN wholes r ON r.key = p.key
    WHERE p.side = 'prompt' AND r.side = 'response'
)
SELECT o.near_vantage, o.far_vantage, o.near, o.key, k.told_by, k.text_key, k.code_points,
    count(*) OVER (PARTITION BY o.near_vantage, o.far_vantage, o.near, k.text_key) AS calls
FROM open_calls o
SEMI JOIN two_sided t ON t.near_vantage = o.near_vantage AND t.far_vantage = o.far_vantage
JOIN keys k ON k.key = o.key
QUALIFY calls <= 32
