-- question: did an earlier affected response hit the same cached prefix, with no flush between?
-- inputs:   leak_pairs, cached_prefixes, joined_requests
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- In one namespace and on one worker; what the earlier response had from the cache, its bad pages among it, must begin the
-- other's for four fifths at least: a template that everybody's prompt begins with is not enough. Only leaks received before
-- the set's own count, for it and its controls alike: else two leaks that share one would vouch for each other, and the sets
-- would not be independent.
-- Null where the cached tokens or the prompt are not known, and of a control whose hit is shorter than four fifths of the
-- leak's: while a cache fills, later responses hit more than earlier ones, whatever leaks.
INSERT INTO pair_facts BY NAME
WITH leaks AS (
    SELECT p.level, p.pair_set, p.recipient, j.received_at
    FROM leak_pairs AS p
    INNER JOIN joined_requests AS j ON j.request = p.recipient
    WHERE p.kind = 'recipient' AND p.control = 0
),
hit AS (
    SELECT DISTINCT c.*
    FROM cached_prefixes AS c
    INNER JOIN leaks AS l ON l.recipient = c.request
    WHERE c.size >= 16
),
mates AS (
    SELECT a.request, h.request AS mate, j.received_at AS mate_received
    FROM cached_prefixes AS a
    INNER JOIN hit AS h
        ON h.worker = a.worker AND h.namespace = a.namespace AND h.flush = a.flush AND h.request <> a.request
    INNER JOIN joined_requests AS j ON j.request = h.request
    WHERE a.size >= 16
        AND a.size >= 0.8 * h.size
        AND left(a.text, least(a.size, h.size)) = left(h.text, least(a.size, h.size))
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'poisoned_prefix' AS predicate,
    bool_or(CASE WHEN k.request IS NULL OR o.request IS NULL OR k.size < 0.8 * o.size THEN NULL ELSE m.mate IS NOT NULL END) AS holds
FROM leak_pairs AS p
INNER JOIN leaks AS l ON l.level = p.level AND l.pair_set = p.pair_set
LEFT JOIN cached_prefixes AS k ON k.request = p.recipient
LEFT JOIN cached_prefixes AS o ON o.request = l.recipient
LEFT JOIN mates AS m ON m.request = p.recipient AND m.mate <> l.recipient AND m.mate_received <= l.received_at
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
