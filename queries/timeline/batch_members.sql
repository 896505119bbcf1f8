-- question: (effect) which calls had a row in the forward passes of the timeline?
-- inputs:   batch_rows, batches
-- grain:    one row per forward pass x call
-- parameters: none
-- order:    none (INSERT)
-- A source that repeats itself has more rows for a pass than the pass had; only there are rows compared.
INSERT INTO batch_members BY NAME
WITH counted AS (
    SELECT r.batch, count(*) AS rows_told
    FROM batch_rows AS r
    GROUP BY r.batch
),
wanted AS (
    SELECT b.batch, c.rows_told > coalesce(b.size, 0) AS repeated
    FROM batches AS b
    INNER JOIN counted AS c ON c.batch = b.batch
)
SELECT r.batch, r.request, r.slot::VARCHAR AS slot
FROM batch_rows AS r
INNER JOIN wanted AS w ON w.batch = r.batch
WHERE NOT w.repeated
UNION ALL
SELECT r.batch, r.request, min(r.slot)::VARCHAR
FROM batch_rows AS r
INNER JOIN wanted AS w ON w.batch = r.batch
WHERE w.repeated
GROUP BY r.batch, r.request
