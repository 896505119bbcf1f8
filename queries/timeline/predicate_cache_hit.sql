-- question: did part of the recipient's prompt come from the prefix cache?
-- inputs:   leak_pairs, joined_requests, cache_hits
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the engine did not say.
INSERT INTO pair_facts BY NAME
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'cache_hit' AS predicate,
    bool_or(coalesce(h.cached_tokens, j.cached_tokens) > 0) AS holds
FROM leak_pairs AS p
INNER JOIN joined_requests AS j ON j.request = p.recipient
LEFT JOIN cache_hits AS h ON h.request = p.recipient
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
