-- question: which engine event fixes each end of the window from outside, and what was examined after it?
-- inputs:   affected_requests, engine_events, joined_requests
-- grain:    one row
-- parameters: none
-- order:    none
-- The last start, flush or change of configuration before the first affected response was received, and the first one after
-- the last was finished: on the workers of affected responses, or on none that is named.
WITH ends AS (
    SELECT
        min(a.received_at) AS first_at,
        max(coalesce(j.finished_at, a.received_at)) AS last_at
    FROM affected_requests AS a
    INNER JOIN joined_requests AS j ON j.request = a.request
    WHERE a.listed = 'affected' AND a.received_at IS NOT NULL
),
places AS (
    SELECT DISTINCT worker
    FROM affected_requests
    WHERE listed = 'affected' AND worker IS NOT NULL
),
changes AS (
    SELECT e."at", e.kind
    FROM engine_events AS e
    WHERE e."at" IS NOT NULL
        AND e.kind IN ('cache_flush', 'kv_all_cleared', 'process_start', 'server_args', 'config_change', 'scheduler_start')
        AND (e.worker IS NULL OR e.worker IN (SELECT worker FROM places))
),
outside AS (
    SELECT
        max(c."at") FILTER (WHERE c."at" <= e.first_at) AS opens_at,
        arg_max(c.kind, (c."at", c.kind)) FILTER (WHERE c."at" <= e.first_at) AS opens_kind,
        min(c."at") FILTER (WHERE c."at" > e.last_at) AS closes_at,
        arg_min(c.kind, (c."at", c.kind)) FILTER (WHERE c."at" > e.last_at) AS closes_kind
    FROM changes AS c
    CROSS JOIN ends AS e
)
SELECT
    strftime(o.opens_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS opens_at,
    o.opens_kind,
    strftime(o.closes_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS closes_at,
    o.closes_kind,
    count(j.request) FILTER (WHERE a.request IS NOT NULL) AS affected_after,
    count(j.request) AS examined_after
FROM outside AS o
LEFT JOIN joined_requests AS j ON j.received_at > o.closes_at AND j.examinable
LEFT JOIN affected_requests AS a ON a.request = j.request AND a.listed = 'affected'
GROUP BY ALL
