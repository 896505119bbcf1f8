-- question: (effect) did the source and recipient of each appearance share forward passes?
-- inputs:   appearances, fragments, batches, batch_members
-- grain:    one row per appearance and relation
-- parameters: none
-- order:    none (INSERT)
-- Samples of who ran count as passes here: who is listed together ran together. Calls that no pass names are unknown.
INSERT INTO appearance_relations BY NAME
WITH pairs AS (
    SELECT DISTINCT a.fragment_id, a.rank, a.request AS source, f.request AS recipient
    FROM appearances AS a
    INNER JOIN fragments AS f ON f.fragment_id = a.fragment_id
),
concerned AS (
    SELECT source AS request FROM pairs
    UNION
    SELECT recipient FROM pairs
),
rows_of AS (
    SELECT m.request, m.batch
    FROM batch_members AS m
    SEMI JOIN concerned AS c ON c.request = m.request
),
in_passes AS (
    SELECT DISTINCT request
    FROM rows_of
),
couples AS (
    SELECT DISTINCT source, recipient
    FROM pairs
),
shared AS (
    SELECT c.source, c.recipient, count(*) AS passes
    FROM couples AS c
    INNER JOIN rows_of AS s ON s.request = c.source
    INNER JOIN rows_of AS r ON r.request = c.recipient AND r.batch = s.batch
    GROUP BY c.source, c.recipient
),
told AS (
    SELECT
        p.fragment_id,
        p.rank,
        ks.request IS NOT NULL AND kr.request IS NOT NULL AS known,
        coalesce(s.passes, 0) AS passes
    FROM pairs AS p
    LEFT JOIN in_passes AS ks ON ks.request = p.source
    LEFT JOIN in_passes AS kr ON kr.request = p.recipient
    LEFT JOIN shared AS s ON s.source = p.source AND s.recipient = p.recipient
)
SELECT
    fragment_id,
    rank,
    'same_batch' AS relation,
    CASE WHEN NOT known THEN 'unknown' WHEN passes > 0 THEN 'yes' ELSE 'no' END AS value,
    CASE WHEN known THEN 'logged' ELSE 'derived' END AS basis
FROM told
UNION ALL
SELECT fragment_id, rank, 'batches_shared', passes::VARCHAR, 'logged'
FROM told
WHERE known
