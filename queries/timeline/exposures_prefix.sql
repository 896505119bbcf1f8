-- question: which requests hit a cached prefix that proven leaks share, with no flush between?
-- inputs:   leak_pairs, pair_facts, cached_prefixes, fragments, exposed (added to)
-- grain:    one row per request
-- parameters: supported (whether the relation stands)
-- order:    none (INSERT)
-- Prefixes are compared as in predicate_poisoned_prefix.
INSERT INTO exposed BY NAME
WITH leaks AS (
    SELECT p.recipient, min(n.fragment_id) AS fragment_id
    FROM leak_pairs AS p
    INNER JOIN pair_facts AS f
        ON f.kind = p.kind AND f.level = p.level AND f.pair_set = p.pair_set AND f.control = p.control
    INNER JOIN fragments AS n ON n.request = p.recipient AND n.machine_verdict = 'probable'
    WHERE p.kind = 'recipient' AND p.level = 'probable' AND p.control = 0
        AND f.predicate = 'poisoned_prefix' AND f.holds
    GROUP BY p.recipient
),
bad AS (
    SELECT
        c.worker,
        c.namespace,
        c.flush,
        left(c.text, c.size) AS prefix,
        count(*) AS leaks,
        min(l.fragment_id) AS fragment_id
    FROM cached_prefixes AS c
    INNER JOIN leaks AS l ON l.recipient = c.request
    WHERE c.size >= 16
    GROUP BY c.worker, c.namespace, c.flush, left(c.text, c.size)
),
shared AS (
    SELECT c.request, max(c.tokens) AS tokens, sum(b.leaks)::BIGINT AS leaks, min(b.fragment_id) AS fragment_id
    FROM cached_prefixes AS c
    INNER JOIN bad AS b
        ON b.worker = c.worker AND b.namespace = c.namespace AND b.flush = c.flush
        AND left(b.prefix, 16) = left(c.text, 16)
    WHERE c.size >= 16 AND left(c.text, least(c.size, length(b.prefix))) = left(b.prefix, least(c.size, length(b.prefix)))
    GROUP BY c.request
)
SELECT
    s.request,
    'prefix' AS relation,
    s.tokens || ' cached tokens' AS shared,
    s.leaks,
    s.fragment_id,
    'poisoned_prefix' AS predicate,
    $supported::BOOLEAN AS supported
FROM shared AS s
