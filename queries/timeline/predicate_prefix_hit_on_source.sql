-- question: is the recipient's cache hit beyond its own namespace explained by the source?
-- inputs:   leak_pairs, cache_hits
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the recipient's expected hit is not known.
INSERT INTO pair_facts BY NAME
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'prefix_hit_on_source' AS predicate,
    bool_or(CASE WHEN h.excess_tokens IS NULL THEN NULL ELSE coalesce(h.matched_request = p.source, false) END) AS holds
FROM leak_pairs AS p
LEFT JOIN cache_hits AS h ON h.request = p.recipient
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
