-- question: (effect) which texts did each call use, and where?
-- inputs:   content_uses, record_groups, request_rows, request_roots
-- grain:    one row per use of a text; equal text in the same place at two vantages is one use
-- parameters: none
-- order:    request, key, side, ordinal
INSERT INTO request_contents BY NAME
WITH uses AS (
    SELECT t.request, u.*
    FROM content_uses u
    JOIN request_roots t ON t.key = u.key
),
told_twice AS (
    SELECT t.request
    FROM record_groups g
    JOIN request_rows q ON q.call = g.call
    JOIN request_roots t ON t.key = q.key
    GROUP BY t.request
    HAVING count(*) > 1
),
once AS (
    SELECT request, key, side, field, role, ordinal, content
    FROM uses
    WHERE request NOT IN (SELECT request FROM told_twice)
    UNION ALL
    SELECT request, key, side, field, role, ordinal, content
    FROM uses
    WHERE request IN (SELECT request FROM told_twice)
    QUALIFY row_number() OVER (PARTITION BY request, side, field, content ORDER BY key, record) = 1
)
SELECT request, key, side, field, role, ordinal, content
FROM once
ORDER BY request, key, side, ordinal, field
