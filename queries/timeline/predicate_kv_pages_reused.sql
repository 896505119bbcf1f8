-- question: was the recipient given KV cache pages that the source had freed before?
-- inputs:   leak_pairs, engine_events, engine_rids
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Pages by the ranges of the probe; null where none of the source's frees or of the recipient's pages are logged.
INSERT INTO pair_facts BY NAME
WITH members AS (
    SELECT source AS request
    FROM leak_pairs
    WHERE kind = 'source'
    UNION
    SELECT recipient
    FROM leak_pairs
    WHERE kind = 'source'
),
pages AS (
    SELECT
        i.request,
        e.worker,
        e.kind,
        e."at",
        unnest((e.attributes::JSON -> 'kv')::BIGINT[][]) AS span
    FROM engine_events AS e
    INNER JOIN engine_rids AS i ON i.rid = e.request_id
    INNER JOIN members AS m ON m.request = i.request
    WHERE e.kind IN ('probe_kv_alloc', 'probe_kv_free')
),
freed AS (
    SELECT request, worker, "at", span[1] AS low, span[2] AS high
    FROM pages
    WHERE kind = 'probe_kv_free'
),
given AS (
    SELECT request, worker, "at", span[1] AS low, span[2] AS high
    FROM pages
    WHERE kind = 'probe_kv_alloc'
),
handed AS (
    SELECT DISTINCT p.source, p.recipient
    FROM leak_pairs AS p
    INNER JOIN freed AS f ON f.request = p.source
    INNER JOIN given AS g ON g.request = p.recipient AND g.worker = f.worker
    WHERE p.kind = 'source' AND f."at" <= g."at" AND f.low <= g.high AND g.low <= f.high
),
known_freed AS (
    SELECT DISTINCT request
    FROM freed
),
known_given AS (
    SELECT DISTINCT request
    FROM given
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'kv_pages_reused' AS predicate,
    bool_or(CASE WHEN s.request IS NULL OR r.request IS NULL THEN NULL ELSE h.source IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN known_freed AS s ON s.request = p.source
LEFT JOIN known_given AS r ON r.request = p.recipient
LEFT JOIN handed AS h ON h.source = p.source AND h.recipient = p.recipient
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
