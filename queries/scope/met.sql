-- question: how did source and recipient stand to each other, over the fragments that are probable or better?
-- inputs:   appearance_relations, appearances, verdicts
-- grain:    one row per relation
-- parameters: none
-- order:    name
-- One pair per fragment: its best-ranked appearance in a named source. A description, not a test.
WITH best AS (
    SELECT
        a.fragment_id,
        min(a.rank) AS rank
    FROM appearances AS a
    INNER JOIN verdicts AS v ON v.fragment_id = a.fragment_id
    WHERE a.named AND v.verdict IN ('confirmed', 'probable')
    GROUP BY a.fragment_id
),
pairs AS (
    SELECT
        b.fragment_id,
        bool_or(r.relation = 'same_worker' AND r.value = 'yes') AS same_worker,
        bool_or(r.relation = 'overlapped_us' AND r.value NOT IN ('0', 'unknown')) AS overlapped,
        bool_or(r.relation = 'source_finished_before_us') AS finished_before,
        bool_or(r.relation = 'source_aborted') AS aborted
    FROM best AS b
    INNER JOIN appearance_relations AS r ON r.fragment_id = b.fragment_id AND r.rank = b.rank
    GROUP BY b.fragment_id
),
counted AS (
    SELECT
        count(*) AS pairs,
        count(*) FILTER (WHERE same_worker) AS same_worker,
        count(*) FILTER (WHERE overlapped) AS overlapped,
        count(*) FILTER (WHERE finished_before) AS finished_before,
        count(*) FILTER (WHERE aborted) AS aborted
    FROM pairs
)
SELECT 'met.overlapped' AS name, overlapped AS n, pairs AS total,
    'fragments, probable or better, whose best-ranked source was in flight at the same time' AS method
FROM counted
UNION ALL
SELECT 'met.same_worker', same_worker, pairs,
    'fragments, probable or better, whose best-ranked source ran on the same worker'
FROM counted
UNION ALL
SELECT 'met.source_aborted', aborted, pairs,
    'fragments, probable or better, whose best-ranked source was aborted or cancelled'
FROM counted
UNION ALL
SELECT 'met.source_finished_before', finished_before, pairs,
    'fragments, probable or better, whose best-ranked source had finished when the recipient was received'
FROM counted
ORDER BY name
