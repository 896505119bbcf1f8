-- question: (effect) which rows of different vantages are one call?
-- inputs:   request_rows, join_links, prompt_checks (of through_pairs)
-- grain:    one row per call x vantage, with the row that the joined call is named by
-- parameters: none
-- order:    none
-- At most one row of each vantage ends in a joined call.
CREATE OR REPLACE TEMP TABLE request_roots AS
WITH engine_roots AS (
    SELECT far AS key, near AS root FROM join_links WHERE near_vantage = 'gateway' AND far_vantage = 'engine'
),
client_direct AS (
    SELECT far AS key, near AS root FROM join_links WHERE near_vantage = 'gateway' AND far_vantage = 'client'
),
client_through AS (
    SELECT f.far AS key, coalesce(e.root, f.near) AS root
    FROM join_links f
    LEFT JOIN engine_roots e ON e.key = f.near
    WHERE f.near_vantage = 'engine'
      AND f.far NOT IN (SELECT key FROM client_direct)
      AND coalesce(e.root, f.near) NOT IN (SELECT root FROM client_direct)
      AND NOT EXISTS (FROM prompt_checks p WHERE p.near = e.root AND p.far = f.far AND p.prompts = 'differ')
),
roots AS (
    SELECT * FROM engine_roots
    UNION ALL
    SELECT * FROM client_direct
    UNION ALL
    SELECT * FROM client_through
)
SELECT q.key, dense_rank() OVER (ORDER BY coalesce(r.root, q.key)) - 1 AS request
FROM request_rows q
LEFT JOIN roots r ON r.key = q.key
