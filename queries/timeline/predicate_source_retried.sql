-- question: had the source's customer sent the same prompt again within ten minutes?
-- inputs:   leak_pairs, joined_requests, request_contents
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- The longest text of the prompt counts. Null where the prompt is not known.
INSERT INTO pair_facts BY NAME
WITH prompts AS (
    SELECT u.request, max_by(u.content, (c.code_points, u.content)) AS content
    FROM request_contents AS u
    INNER JOIN contents AS c ON c.content = u.content
    WHERE u.side = 'prompt'
    GROUP BY u.request
),
asked AS (
    SELECT q.request, q.content, j.isolation_unit, j.received_at
    FROM prompts AS q
    INNER JOIN joined_requests AS j ON j.request = q.request
),
retried AS (
    SELECT DISTINCT a.request
    FROM asked AS a
    INNER JOIN asked AS b
        ON b.content = a.content AND b.isolation_unit = a.isolation_unit AND b.request <> a.request
        AND abs(epoch_us(b.received_at) - epoch_us(a.received_at)) <= 600000000
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'source_retried' AS predicate,
    bool_or(CASE WHEN a.request IS NULL THEN NULL ELSE r.request IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN prompts AS a ON a.request = p.source
LEFT JOIN retried AS r ON r.request = p.source
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
