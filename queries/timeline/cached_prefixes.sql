-- question: (effect) which beginning of its prompt did each request take from the cache, and since which flush?
-- inputs:   leak_pairs, cache_hits, joined_requests, request_contents, contents, engine_events
-- grain:    one row per request
-- parameters: of_leaks (leaks and controls, else all hits in time), low, high (of the fault; null: no limit)
-- order:    none
-- The cached part of a prompt is its first cached_tokens / prompt_tokens; four fifths of it count (`size`, code points).
CREATE OR REPLACE TEMP TABLE cached_prefixes AS
WITH members AS (
    SELECT DISTINCT recipient AS request
    FROM leak_pairs
    WHERE $of_leaks::BOOLEAN AND kind = 'recipient'
    UNION ALL
    SELECT j.request
    FROM joined_requests AS j
    LEFT JOIN cache_hits AS h ON h.request = j.request
    WHERE NOT $of_leaks::BOOLEAN
        AND coalesce(h.cached_tokens, j.cached_tokens) > 0
        AND ($low::TIMESTAMP IS NULL OR coalesce(j.finished_at, j.received_at) >= $low::TIMESTAMP)
        AND ($high::TIMESTAMP IS NULL OR j.received_at <= $high::TIMESTAMP)
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
)
SELECT
    q.request,
    q.text,
    coalesce(h.worker, j.worker, 'unknown') AS worker,
    coalesce(h.own_namespace, '') AS namespace,
    coalesce(h.cached_tokens, j.cached_tokens) AS tokens,
    floor(
        0.8 * length(q.text) * least(1, coalesce(h.cached_tokens, j.cached_tokens) / nullif(j.prompt_tokens, 0))
    )::BIGINT AS size,
    (
        SELECT count(*)
        FROM flushes AS f
        WHERE f.worker = coalesce(h.worker, j.worker) AND f."at" <= j.received_at
    ) AS flush
FROM prompts AS q
INNER JOIN joined_requests AS j ON j.request = q.request
LEFT JOIN cache_hits AS h ON h.request = q.request
WHERE coalesce(h.cached_tokens, j.cached_tokens) IS NOT NULL AND j.prompt_tokens > 0
