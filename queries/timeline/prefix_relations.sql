-- question: (effect) does a cache hit of the recipient of each appearance lead to its source?
-- inputs:   appearances, fragments, cache_hits
-- grain:    one row per appearance and relation
-- parameters: none
-- order:    none (INSERT)
-- same_prefix: the hit went beyond the recipient's own prefixes, and this source is the one that explains it. A hit that is
-- within its own prefixes is `no`; a hit that cannot be judged, or that nobody explains, is `unknown`.
INSERT INTO appearance_relations BY NAME
WITH pairs AS (
    SELECT DISTINCT a.fragment_id, a.rank, a.request AS source, f.request AS recipient
    FROM appearances AS a
    INNER JOIN fragments AS f ON f.fragment_id = a.fragment_id
),
told AS (
    SELECT
        p.fragment_id,
        p.rank,
        h.cached_tokens,
        h.excess_tokens,
        h.matched_request = p.source AS matched,
        h.matched_request IS NOT NULL AS explained,
        h.basis
    FROM pairs AS p
    LEFT JOIN cache_hits AS h ON h.request = p.recipient
)
SELECT
    fragment_id,
    rank,
    'same_prefix' AS relation,
    CASE
        WHEN coalesce(matched, FALSE) THEN 'yes'
        WHEN excess_tokens = 0 OR cached_tokens = 0 OR explained THEN 'no'
        ELSE 'unknown'
    END AS value,
    'derived' AS basis
FROM told
UNION ALL
SELECT fragment_id, rank, 'cache_excess_tokens', excess_tokens::VARCHAR, 'derived'
FROM told
WHERE excess_tokens > 0
UNION ALL
SELECT fragment_id, rank, 'cache_hit_matched', 'yes', 'derived'
FROM told
WHERE matched
