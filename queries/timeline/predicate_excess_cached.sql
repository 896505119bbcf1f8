-- question: did more of the recipient's prompt come from the cache than its own namespace explains?
-- inputs:   leak_pairs, cache_hits
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the longest legitimate prefix is not known.
INSERT INTO pair_facts BY NAME
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'excess_cached' AS predicate,
    bool_or(h.excess_tokens > 0) AS holds
FROM leak_pairs AS p
LEFT JOIN cache_hits AS h ON h.request = p.recipient
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
