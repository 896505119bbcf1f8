-- question: (effect) by which names do engines know the calls of the case?
-- inputs:   requests
-- grain:    one row per name x call
-- parameters: none
-- order:    none
-- The id of the engine's own record first; where no engine's record has that name, an id that a gateway or client kept of
-- the answer. `repeated` names stand for several calls: only a time can tell which.
CREATE OR REPLACE TEMP TABLE call_names AS
WITH own AS (
    SELECT
        request_id AS rid,
        request,
        min(coalesce(received_at, finished_at)) AS starts,
        bool_or(vantage = 'engine') AS of_engine
    FROM requests
    WHERE request_id IS NOT NULL
    GROUP BY request_id, request
),
kept AS (
    SELECT
        unnest([ids ->> '$.rid', ids ->> '$.response_id']) AS rid,
        request,
        coalesce(received_at, finished_at) AS starts
    FROM requests
    WHERE vantage <> 'engine' AND ids <> '{}'
),
engine_names AS (
    SELECT DISTINCT rid
    FROM own
    WHERE of_engine
),
names AS (
    SELECT o.rid, o.request, o.starts
    FROM own AS o
    LEFT JOIN engine_names AS e ON e.rid = o.rid
    WHERE o.of_engine OR e.rid IS NULL
    UNION
    SELECT k.rid, k.request, min(k.starts)
    FROM kept AS k
    LEFT JOIN engine_names AS e ON e.rid = k.rid
    WHERE k.rid IS NOT NULL AND e.rid IS NULL
    GROUP BY k.rid, k.request
)
SELECT
    rid,
    request,
    min(starts) - INTERVAL 1 SECOND AS starts,
    count(*) OVER (PARTITION BY rid) > 1 AS repeated
FROM names
GROUP BY rid, request
