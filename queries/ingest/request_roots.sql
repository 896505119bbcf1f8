-- question: (effect) which rows of different vantages are one call?
-- inputs:   request_rows, request_ids
-- grain:    one row per call x vantage, with the row that the joined call is named by
-- parameters: none
-- order:    none
-- An id joins only where it stands for one call at each vantage; where one row could join several, the stronger id
-- decides, and where that leaves a tie, nothing is joined. At most one row of each vantage ends in a joined call.
CREATE OR REPLACE TEMP TABLE request_roots AS
WITH unique_ids AS (
    SELECT vantage, id, min(key) AS key, min(weight) AS weight
    FROM request_ids
    GROUP BY vantage, id
    HAVING min(key) = max(key)
),
links AS (
    SELECT a.key AS near, b.key AS far, a.vantage AS near_vantage, b.vantage AS far_vantage,
        min(a.weight + b.weight) AS weight
    FROM unique_ids a
    JOIN unique_ids b ON b.id = a.id
    WHERE (a.vantage = 'gateway' AND b.vantage IN ('engine', 'client'))
       OR (a.vantage = 'engine' AND b.vantage = 'client')
    GROUP BY a.key, b.key, a.vantage, b.vantage
),
strongest AS (
    SELECT *
    FROM links
    QUALIFY weight = min(weight) OVER (PARTITION BY near, far_vantage)
        AND weight = min(weight) OVER (PARTITION BY far, near_vantage)
),
firm AS (
    SELECT near, far, near_vantage, far_vantage
    FROM strongest
    QUALIFY count(*) OVER (PARTITION BY near, far_vantage) = 1
        AND count(*) OVER (PARTITION BY far, near_vantage) = 1
),
engine_roots AS (
    SELECT far AS key, near AS root FROM firm WHERE near_vantage = 'gateway' AND far_vantage = 'engine'
),
client_direct AS (
    SELECT far AS key, near AS root FROM firm WHERE near_vantage = 'gateway' AND far_vantage = 'client'
),
client_through AS (
    SELECT f.far AS key, coalesce(e.root, f.near) AS root
    FROM firm f
    LEFT JOIN engine_roots e ON e.key = f.near
    WHERE f.near_vantage = 'engine'
      AND f.far NOT IN (SELECT key FROM client_direct)
      AND coalesce(e.root, f.near) NOT IN (SELECT root FROM client_direct)
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
