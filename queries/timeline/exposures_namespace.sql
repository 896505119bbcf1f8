-- question: which requests got more from the cache than their own namespace explains?
-- inputs:   leak_pairs, cache_hits, joined_requests, fragments, exposed (added to)
-- grain:    one row per request
-- parameters: low, high (of the fault; null: no limit), supported (whether the relation stands)
-- order:    none (INSERT)
-- Only where a proven leak has such a hit too; `leaks` counts those on the same worker.
INSERT INTO exposed BY NAME
WITH named AS (
    SELECT f.request, h.worker, min(f.fragment_id) AS fragment_id
    FROM fragments AS f
    INNER JOIN cache_hits AS h ON h.request = f.request
    INNER JOIN leak_pairs AS p
        ON p.kind = 'recipient' AND p.level = 'probable' AND p.control = 0 AND p.recipient = f.request
    WHERE f.machine_verdict = 'probable' AND h.excess_tokens > 0
    GROUP BY f.request, h.worker
),
shared AS (
    SELECT
        h.request,
        h.excess_tokens,
        count(DISTINCT n.request) AS leaks,
        min(n.fragment_id) AS fragment_id
    FROM cache_hits AS h
    INNER JOIN named AS n ON n.worker = h.worker
    WHERE h.excess_tokens > 0
    GROUP BY h.request, h.excess_tokens
)
SELECT
    s.request,
    'prefix' AS relation,
    s.excess_tokens || ' cached tokens of another namespace' AS shared,
    s.leaks,
    s.fragment_id,
    'excess_cached' AS predicate,
    $supported::BOOLEAN AS supported
FROM shared AS s
INNER JOIN joined_requests AS j ON j.request = s.request
WHERE ($low::TIMESTAMP IS NULL OR coalesce(j.finished_at, j.received_at) >= $low::TIMESTAMP)
    AND ($high::TIMESTAMP IS NULL OR j.received_at <= $high::TIMESTAMP)
