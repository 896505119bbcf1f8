-- question: which responses carry foreign text, whoever it came from?
-- inputs:   fragments, rejected_fragments
-- grain:    one row per recipient
-- parameters: most_sets (per level)
-- order:    none (INSERT)
INSERT INTO leak_pairs BY NAME
WITH recipients AS (
    SELECT f.request AS recipient, bool_or(f.machine_verdict = 'probable') AS strong
    FROM fragments AS f
    LEFT JOIN rejected_fragments AS j ON j.fragment_id = f.fragment_id
    WHERE f.machine_verdict IN ('probable', 'possible') AND j.fragment_id IS NULL
    GROUP BY f.request
),
numbered AS (
    SELECT
        CASE WHEN strong THEN 'probable' ELSE 'possible' END AS level,
        recipient,
        row_number() OVER (PARTITION BY strong ORDER BY (recipient * 2654435761) % 4294967296, recipient) - 1 AS pair_set
    FROM recipients
)
SELECT 'recipient' AS kind, level, pair_set, 0 AS control, 0 AS member, NULL::BIGINT AS source, recipient
FROM numbered
WHERE pair_set < $most_sets
