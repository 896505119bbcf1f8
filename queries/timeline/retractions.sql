-- question: (effect) of which appearances was a side retracted, or put back in line, by the engine?
-- inputs:   appearances, fragments, engine_events, call_names
-- grain:    one row per appearance and relation
-- parameters: none
-- order:    none (INSERT)
INSERT INTO appearance_relations BY NAME
WITH retracted AS (
    SELECT DISTINCT c.request
    FROM engine_events AS v
    INNER JOIN call_names AS c ON c.rid = v.request_id
    WHERE v.kind IN ('probe_retract', 'retraction')
        OR (v.kind = 'request_time_stats' AND TRY_CAST(v.counts ->> '$.attempts' AS BIGINT) > 1)
),
pairs AS (
    SELECT DISTINCT a.fragment_id, a.rank, a.request AS source, f.request AS recipient
    FROM appearances AS a
    INNER JOIN fragments AS f ON f.fragment_id = a.fragment_id
)
SELECT p.fragment_id, p.rank, 'source_retracted' AS relation, 'yes' AS value, 'logged' AS basis
FROM pairs AS p
SEMI JOIN retracted AS r ON r.request = p.source
UNION ALL
SELECT p.fragment_id, p.rank, 'recipient_retracted', 'yes', 'logged'
FROM pairs AS p
SEMI JOIN retracted AS r ON r.request = p.recipient
