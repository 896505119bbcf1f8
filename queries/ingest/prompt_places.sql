-- question: (effect) which texts of one call's prompt are to be looked for in which texts of the other's?
-- inputs:   open_pairs, content_uses, contents
-- grain:    one row per pair of calls to ask x one of the two x text of its prompt x text of the other's prompt (or none)
-- parameters: roles (list of the roles of the texts to look for), every (all of them, or the last and the longest one)
-- order:    none
-- `search` numbers the distinct pairs of texts; `page` puts together those of some 32 million code points. A text that the
-- other one has as well need be looked for in rendered prompts only, and none in a shorter one (but for white space around it).
CREATE OR REPLACE TEMP TABLE prompt_places AS
WITH asked AS (
    SELECT near, far, near AS texts_of, far AS other FROM open_pairs WHERE ask_prompts
    UNION ALL
    SELECT near, far, far, near FROM open_pairs WHERE ask_prompts
),
prompts AS (
    SELECT u.key, u.field, u.role, u.ordinal, u.content, c.code_points
    FROM content_uses u
    JOIN contents c ON c.content = u.content
    WHERE u.side = 'prompt' AND (u.role = 'prompt' OR u.field LIKE 'messages[%].content%')
        AND u.key IN (SELECT texts_of FROM asked)
),
chosen AS (
    SELECT key, field, content, code_points
    FROM prompts
    WHERE list_contains($roles, role)
    QUALIFY $every
        OR row_number() OVER (PARTITION BY key ORDER BY ordinal DESC, field DESC, content) = 1
        OR row_number() OVER (PARTITION BY key ORDER BY code_points DESC, ordinal DESC, field DESC, content) = 1
),
texts AS (
    SELECT DISTINCT a.near, a.far, a.texts_of, a.other, m.field, m.content, m.code_points,
        EXISTS (FROM prompts r WHERE r.key = a.other AND r.content = m.content) AS equal
    FROM asked a
    JOIN chosen m ON m.key = a.texts_of
),
placed AS (
    SELECT t.near, t.far, t.texts_of, t.field, t.code_points, t.equal,
        r.role = 'prompt' AS in_rendered, t.content, r.content AS other_content,
        dense_rank() OVER (ORDER BY t.content, r.content) AS search,
        r.code_points AS other_code_points
    FROM texts t
    LEFT JOIN prompts r ON r.key = t.other AND (r.role = 'prompt' OR NOT t.equal)
),
pages AS (
    SELECT search, sum(any_value(code_points + other_code_points)) OVER (ORDER BY search) // 32_000_000 AS page
    FROM placed
    WHERE code_points <= other_code_points + 16
    GROUP BY search
)
SELECT p.*, g.page
FROM placed p
LEFT JOIN pages g ON g.search = p.search
