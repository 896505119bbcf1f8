-- question: (effect) which worker of the requests is each process of the events?
-- inputs:   event_places, batch_rows, batch_keys, slot_stays, time_stats, joined_requests, engine_events, requests
-- grain:    one row per place
-- parameters: none
-- order:    none
-- By the calls that its events name; failing that by its own name, where the requests have that worker; failing that by
-- the file, where all requests of the file are one worker's. Schedulers that share a worker's name are told apart by rank.
CREATE OR REPLACE TEMP TABLE place_workers AS
WITH distinct_places AS (
    SELECT place, min(source) AS source, min(worker) AS worker, min(dp_rank) AS dp_rank, min(process) AS process
    FROM event_places
    GROUP BY place
),
named AS (
    SELECT DISTINCT k.place, r.request
    FROM batch_rows AS r
    INNER JOIN batch_keys AS k ON k.batch = r.batch
    UNION
    SELECT place, request FROM slot_stays WHERE request IS NOT NULL
    UNION
    SELECT place, request FROM time_stats WHERE request IS NOT NULL
),
votes AS (
    SELECT n.place, j.worker, count(*) AS calls
    FROM named AS n
    INNER JOIN joined_requests AS j ON j.request = n.request
    GROUP BY n.place, j.worker
),
by_calls AS (
    SELECT place, worker
    FROM votes
    QUALIFY row_number() OVER (PARTITION BY place ORDER BY calls DESC, worker NULLS LAST) = 1
),
known AS (
    SELECT DISTINCT worker
    FROM joined_requests
    WHERE worker IS NOT NULL
),
files AS (
    SELECT evidence, min(worker) AS worker
    FROM requests
    WHERE vantage = 'engine'
    GROUP BY evidence
    HAVING count(DISTINCT coalesce(worker, '')) = 1
),
place_files AS (
    SELECT DISTINCT e.place, v.evidence
    FROM event_places AS e
    INNER JOIN engine_events AS v
        ON e.worker IS NOT DISTINCT FROM v.worker AND e.attributes IS NOT DISTINCT FROM v.attributes
    WHERE e.source = 'log'
        AND v.kind IN ('prefill_batch', 'decode_batch', 'scheduler_start', 'retraction', 'engine_release', 'cache_flush', 'abort')
),
by_file AS (
    SELECT p.place, min(f.worker) AS worker, count(*) AS files
    FROM place_files AS p
    INNER JOIN files AS f ON f.evidence = p.evidence
    GROUP BY p.place
    HAVING count(DISTINCT coalesce(f.worker, '')) = 1
),
bases AS (
    SELECT
        d.*,
        coalesce(c.worker, k.worker, f.worker) AS named_worker,
        coalesce(c.worker, k.worker, f.worker, d.worker, 'unknown') AS base
    FROM distinct_places AS d
    LEFT JOIN by_calls AS c ON c.place = d.place
    LEFT JOIN known AS k ON k.worker = d.worker
    LEFT JOIN by_file AS f ON f.place = d.place
),
ranks AS (
    SELECT base, count(DISTINCT dp_rank) AS ranks
    FROM bases
    GROUP BY base
)
SELECT
    b.place,
    b.source,
    b.process,
    b.named_worker IS NOT NULL AS tied,
    CASE
        WHEN r.ranks > 1 AND b.dp_rank IS NOT NULL AND NOT regexp_matches(b.base, '(DP|dp)' || b.dp_rank || '$')
            THEN b.base || ' DP' || b.dp_rank
        ELSE b.base
    END AS worker
FROM bases AS b
INNER JOIN ranks AS r ON r.base = b.base
