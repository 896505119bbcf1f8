-- question: what is known of each step: trigger, first bad response, first report, awareness, containment, fix, verification?
-- inputs:   affected_requests, joined_requests, fault_window, engine_events, stages, numbers, notice_facts
-- grain:    one row per step; steps that no log can know say so
-- parameters: none
-- order:    the order in which such steps come
-- empty:    never: a step that is not known says so
WITH affected AS (
    SELECT
        min(received_at) AS first_at,
        max(received_at) AS last_at,
        arg_min(request_id, (received_at, request)) AS first_request,
        arg_max(request_id, (received_at, request)) AS last_request
    FROM affected_requests
    WHERE listed = 'affected' AND received_at IS NOT NULL
),
alarms AS (
    SELECT min("at") AS "at", arg_min(kind, "at") AS kind
    FROM engine_events
    WHERE kind IN ('kv_double_free', 'kv_canary_violation', 'memory_leak', 'context_corruption')
),
outer_ends AS (
    SELECT name, TRY_CAST(value ->> '$' AS TIMESTAMP) AS "at", method
    FROM numbers
    WHERE name IN ('window.opens_at', 'window.closes_at')
),
said AS (
    SELECT key, TRY_CAST(arg_max(value, ("at", name)) AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS "at"
    FROM notice_facts
    WHERE tenant_ref = '' AND key IN ('aware', 'discovered')
    GROUP BY key
),
span AS (
    SELECT min(received_at) AS low, max(coalesce(finished_at, received_at)) AS high FROM joined_requests
),
declared AS (
    SELECT parameters::JSON ->> 'fault_began' AS began, parameters::JSON ->> 'fault_fixed' AS fixed
    FROM stages
    WHERE stage = 'controls'
),
clean AS (
    SELECT count(*) AS responses
    FROM joined_requests AS j
    CROSS JOIN affected AS a
    WHERE j.received_at > a.last_at AND j.examinable
),
onset AS (SELECT * FROM fault_window WHERE worker IS NULL AND bound = 'onset'),
ending AS (SELECT * FROM fault_window WHERE worker IS NULL AND bound = 'end'),
steps (place, step, moment, low, high, status, basis) AS (
    SELECT 1, 'evidence begins', low, NULL::TIMESTAMP, NULL::TIMESTAMP, 'known', 'first receive time in the evidence' FROM span
    UNION ALL
    SELECT 2, 'trigger', o."at", NULL, NULL, CASE WHEN o."at" IS NULL THEN 'unknown_to_fill' ELSE 'candidate' END,
        coalesce(o.method, 'not known: `forensics scope` has not run')
    FROM (SELECT 'window.opens_at' AS name) AS w
    LEFT JOIN outer_ends AS o ON o.name = w.name
    UNION ALL
    SELECT 3, 'onset of the fault', (SELECT "at" FROM onset), (SELECT low FROM onset), (SELECT high FROM onset),
        CASE WHEN (SELECT "at" FROM onset) IS NULL THEN 'unknown' ELSE 'estimated' END,
        coalesce((SELECT finding FROM onset), 'not estimated: the timeline has not run')
    UNION ALL
    SELECT 4, 'fault began, as declared', TRY_CAST((SELECT began FROM declared) AS TIMESTAMP), NULL, NULL,
        CASE WHEN (SELECT began FROM declared) IS NULL THEN 'unknown_to_fill' ELSE 'declared' END, 'forensics controls --fault-began'
    UNION ALL
    SELECT 5, 'first affected response', first_at, NULL, NULL, CASE WHEN first_at IS NULL THEN 'none' ELSE 'known' END,
        coalesce('received; request ' || first_request, 'no response is affected')
    FROM affected
    UNION ALL
    SELECT 6, 'first alarm of an engine', "at", NULL, NULL, CASE WHEN "at" IS NULL THEN 'none' ELSE 'known' END,
        coalesce(kind, 'no engine logged one')
    FROM alarms
    UNION ALL
    SELECT 7, 'first report', s."at", NULL, NULL, CASE WHEN s."at" IS NULL THEN 'unknown_to_fill' ELSE 'set by a person' END,
        CASE WHEN s."at" IS NULL THEN 'not in these logs' ELSE 'forensics notify' END
    FROM (SELECT 'discovered' AS key) AS w
    LEFT JOIN said AS s ON s.key = w.key
    UNION ALL
    SELECT 8, 'awareness', s."at", NULL, NULL, CASE WHEN s."at" IS NULL THEN 'unknown_to_fill' ELSE 'set by a person' END,
        CASE WHEN s."at" IS NULL THEN 'only a person sets it' ELSE 'forensics notify --aware-at' END
    FROM (SELECT 'aware' AS key) AS w
    LEFT JOIN said AS s ON s.key = w.key
    UNION ALL
    SELECT 9, 'containment', NULL, NULL, NULL, 'unknown_to_fill', 'not in these logs'
    UNION ALL
    SELECT 10, 'last affected response', last_at, NULL, NULL, CASE WHEN last_at IS NULL THEN 'none' ELSE 'known' END,
        coalesce('received; request ' || last_request, 'no response is affected')
    FROM affected
    UNION ALL
    SELECT 11, 'end of the fault', (SELECT "at" FROM ending), (SELECT low FROM ending), (SELECT high FROM ending),
        CASE WHEN (SELECT "at" FROM ending) IS NULL THEN 'unknown' ELSE 'estimated' END,
        coalesce((SELECT finding FROM ending), 'not estimated: the timeline has not run')
    UNION ALL
    SELECT 12, 'what may have ended it', o."at", NULL, NULL, CASE WHEN o."at" IS NULL THEN 'unknown_to_fill' ELSE 'candidate' END,
        coalesce(o.method, 'not known: `forensics scope` has not run')
    FROM (SELECT 'window.closes_at' AS name) AS w
    LEFT JOIN outer_ends AS o ON o.name = w.name
    UNION ALL
    SELECT 13, 'fix', TRY_CAST((SELECT fixed FROM declared) AS TIMESTAMP), NULL, NULL,
        CASE WHEN (SELECT fixed FROM declared) IS NULL THEN 'unknown_to_fill' ELSE 'declared' END, 'forensics controls --fault-fixed'
    UNION ALL
    SELECT 14, 'verification', NULL, NULL, NULL, 'unknown_to_fill',
        responses || ' examined responses after the last affected one, none of them affected (`ask has-it-stopped`)'
    FROM clean
    UNION ALL
    SELECT 15, 'evidence ends', high, NULL, NULL, 'known', 'last time of a request in the evidence' FROM span
)
SELECT step, moment AS "at", low, high, status, basis
FROM steps
ORDER BY place
