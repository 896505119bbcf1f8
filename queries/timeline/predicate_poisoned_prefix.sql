-- question: did an earlier affected response hit the same cached prefix, with no flush between?
-- inputs:   leak_pairs, cache_hits, joined_requests, request_contents, contents, engine_events
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- The cached part of a prompt is its first cached_tokens / prompt_tokens, of which four fifths count, in one namespace and on
-- one worker; what the earlier response had from the cache, its bad pages among it, must begin the other's for four fifths at
-- least: a template that everybody's prompt begins with is not enough. Only leaks received before the set's own count, for it and its
-- controls alike: else two leaks that share one would vouch for each other, and the sets would not be independent.
-- Null where the cached tokens or the prompt are not known, and of a control whose hit is shorter than four fifths of the
-- leak's: while a cache fills, later responses hit more than earlier ones, whatever leaks.
INSERT INTO pair_facts BY NAME
WITH members AS (
    SELECT DISTINCT recipient AS request
    FROM leak_pairs
    WHERE kind = 'recipient'
),
spoken AS (
    SELECT u.request, u.key, string_agg(c.text, chr(10) ORDER BY u.ordinal, u.field) AS text
    FROM request_contents AS u
    INNER JOIN members AS m ON m.request = u.request
    INNER JOIN contents AS c ON c.content = u.content
    WHERE u.side = 'prompt'
    GROUP BY u.request, u.key
),
prompts AS (
    SELECT request, max_by(text, (length(text), text)) AS text
    FROM spoken
    GROUP BY request
),
flushes AS (
    SELECT worker, "at"
    FROM engine_events
    WHERE kind = 'cache_flush' AND "at" IS NOT NULL
),
cached AS (
    SELECT
        q.request,
        q.text,
        coalesce(h.worker, j.worker, 'unknown') AS worker,
        coalesce(h.own_namespace, '') AS namespace,
        coalesce(h.cached_tokens, j.cached_tokens) AS tokens,
        floor(0.8 * length(q.text) * least(1, coalesce(h.cached_tokens, j.cached_tokens) / nullif(j.prompt_tokens, 0)))::BIGINT AS size,
        (
            SELECT count(*)
            FROM flushes AS f
            WHERE f.worker = coalesce(h.worker, j.worker) AND f."at" <= j.received_at
        ) AS flush
    FROM prompts AS q
    INNER JOIN joined_requests AS j ON j.request = q.request
    LEFT JOIN cache_hits AS h ON h.request = q.request
    WHERE coalesce(h.cached_tokens, j.cached_tokens) IS NOT NULL AND j.prompt_tokens > 0
),
leaks AS (
    SELECT p.level, p.pair_set, p.recipient, j.received_at
    FROM leak_pairs AS p
    INNER JOIN joined_requests AS j ON j.request = p.recipient
    WHERE p.kind = 'recipient' AND p.control = 0
),
hit AS (
    SELECT DISTINCT c.*
    FROM cached AS c
    INNER JOIN leaks AS l ON l.recipient = c.request
    WHERE c.size >= 16
),
mates AS (
    SELECT a.request, h.request AS mate, j.received_at AS mate_received
    FROM cached AS a
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
LEFT JOIN cached AS k ON k.request = p.recipient
LEFT JOIN cached AS o ON o.request = l.recipient
LEFT JOIN mates AS m ON m.request = p.recipient AND m.mate <> l.recipient AND m.mate_received <= l.received_at
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
