-- question: what in the timeline is not whole, or not sure?
-- inputs:   batches, batch_members, residencies, event_clocks, cache_hits
-- grain:    one row per doubt that there is
-- parameters: none
-- order:    by gravity
WITH sizes AS (
    SELECT b.batch, b.size, count(m.request) AS members
    FROM batches AS b
    LEFT JOIN batch_members AS m ON m.batch = b.batch
    WHERE b.size IS NOT NULL
    GROUP BY b.batch, b.size
),
doubts (place, sentence, count) AS (
    SELECT
        1,
        'forward passes had members that are no request of the case (health checks, requests that no log holds)',
        count(*)
    FROM sizes
    WHERE members < size
    UNION ALL
    SELECT 2, 'forward passes have more members than their size: their source repeats itself or ids are not unique', count(*)
    FROM sizes
    WHERE members > size
    UNION ALL
    SELECT 3, 'slots were given again without having been freed in the log: it has gaps', count(*)
    FROM residencies
    WHERE phase = 'slot' AND basis = 'logged' AND confidence = 0.5
    UNION ALL
    SELECT 4, 'sources of engine times were moved to the requests'' clock (`forensics ask CASE engine_clocks`)', count(*)
    FROM event_clocks
    WHERE offset_us <> 0
    UNION ALL
    SELECT
        5,
        'cache hits are longer than what the cache says it held for them: its key failed (`forensics ask CASE cache-hits-beyond-own`)',
        count(*)
    FROM cache_hits
    WHERE excess_tokens > 0 AND expected_basis = 'kv_events'
    UNION ALL
    SELECT 6, 'cache hits are longer than any prefix their own customer had sent, and no other request explains them', count(*)
    FROM cache_hits
    WHERE excess_tokens > 0 AND matched_request IS NULL AND expected_basis <> 'kv_events'
)
SELECT sentence, count
FROM doubts
WHERE count > 0
ORDER BY place
