-- question: which requests supplied which leaks, as far as one customer alone can be the source?
-- inputs:   fragments, appearances, rejected_fragments
-- grain:    one row per recipient, source tenant and request that holds the text; at most $members of each
-- parameters: most_sets (per level), members
-- order:    none (INSERT)
-- Of very many sets a fixed selection is kept. Fragments that a person rejected are left out.
INSERT INTO leak_pairs BY NAME
WITH leaks AS (
    SELECT f.fragment_id, f.request AS recipient, f.sources[1] AS tenant, f.machine_verdict = 'probable' AS strong
    FROM fragments AS f
    LEFT JOIN rejected_fragments AS j ON j.fragment_id = f.fragment_id
    WHERE f.machine_verdict IN ('probable', 'possible') AND len(f.sources) = 1 AND j.fragment_id IS NULL
),
levels AS (
    SELECT recipient, tenant, bool_or(strong) AS strong
    FROM leaks
    GROUP BY recipient, tenant
),
candidates AS (
    SELECT l.recipient, l.tenant, v.strong, a.request AS source, min(a.rank) AS rank
    FROM leaks AS l
    INNER JOIN levels AS v ON v.recipient = l.recipient AND v.tenant = l.tenant AND v.strong = l.strong
    INNER JOIN appearances AS a ON a.fragment_id = l.fragment_id AND a.named
    GROUP BY l.recipient, l.tenant, v.strong, a.request
),
numbered AS (
    SELECT
        CASE WHEN strong THEN 'probable' ELSE 'possible' END AS level,
        recipient,
        source,
        row_number() OVER (PARTITION BY recipient, tenant ORDER BY rank, source) - 1 AS member,
        dense_rank() OVER (PARTITION BY strong ORDER BY (recipient * 2654435761) % 4294967296, recipient, tenant) - 1 AS pair_set
    FROM candidates
)
SELECT 'source' AS kind, level, pair_set, 0 AS control, member, source, recipient
FROM numbered
WHERE pair_set < $most_sets AND member < $members
