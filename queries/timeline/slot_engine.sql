-- question: what do the logs say of each scheduler that wrote lines of times: its starts, its pool, its release?
-- inputs:   time_stats, engine_events, event_places, place_workers
-- grain:    one row per place and file with lines of times
-- parameters: none
-- order:    worker, place, evidence
WITH stats AS (
    SELECT t.place, t.evidence, min(t.regime) AS regime, min(t.byte_offset) AS first_offset, bool_or(t.sort <> 'unified') AS paired
    FROM time_stats AS t
    GROUP BY t.place, t.evidence
),
place_names AS (
    SELECT place, min(worker) AS worker
    FROM event_places
    GROUP BY place
),
releases AS (
    SELECT
        evidence,
        max(attributes ->> '$.at_least') AS at_least,
        count(DISTINCT attributes) AS told
    FROM engine_events
    WHERE kind = 'engine_release'
    GROUP BY evidence
),
everywhere AS (
    -- A case whose engines all show one release: its request logs may lie in other files than its schedulers' lines.
    SELECT max(at_least) AS at_least
    FROM releases
    HAVING count(DISTINCT at_least) = 1 AND max(told) = 1
),
arguments AS (
    SELECT evidence, max(attributes ->> '$.schedule_policy') AS policy
    FROM engine_events
    WHERE kind = 'server_args'
    GROUP BY evidence
)
SELECT
    p.worker,
    s.place,
    s.evidence,
    s.regime,
    s.paired,
    coalesce(r.at_least, e.at_least) AS release,
    coalesce(a.policy, 'fcfs') AS schedule_policy,
    n.worker AS event_worker
FROM stats AS s
INNER JOIN place_workers AS p ON p.place = s.place
INNER JOIN place_names AS n ON n.place = s.place
LEFT JOIN releases AS r ON r.evidence = s.evidence AND r.told = 1
LEFT JOIN everywhere AS e ON TRUE
LEFT JOIN arguments AS a ON a.evidence = s.evidence
ORDER BY p.worker, s.place, s.evidence
