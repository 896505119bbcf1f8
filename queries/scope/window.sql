-- question: when was the first and the last affected response received, between which ends of the evidence and declared times?
-- inputs:   affected_requests, joined_requests, engine_events, stages
-- grain:    one row per moment
-- parameters: none
-- order:    name
WITH ends AS (
    SELECT
        min(received_at) AS first_at,
        max(received_at) AS last_at,
        arg_min(request_id, (received_at, request)) AS first_request,
        arg_max(request_id, (received_at, request)) AS last_request
    FROM affected_requests
    WHERE listed = 'affected' AND received_at IS NOT NULL
),
span AS (
    SELECT min(received_at) AS low, max(coalesce(finished_at, received_at)) AS high
    FROM joined_requests
),
alarms AS (
    SELECT min("at") AS "at", arg_min(kind, ("at", kind)) AS kind
    FROM engine_events
    WHERE kind IN ('kv_double_free', 'kv_canary_violation', 'memory_leak', 'context_corruption')
),
declared AS (
    SELECT
        any_value(parameters::JSON ->> 'fault_began') AS began,
        any_value(parameters::JSON ->> 'fault_fixed') AS fixed
    FROM stages
    WHERE stage = 'controls'
)
SELECT
    'window.first_at' AS name,
    strftime(first_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS value,
    'receive time of the first affected response (probable or better)' AS method
FROM ends
UNION ALL
SELECT
    'window.first_request',
    first_request,
    'request that fixes the start of the window as far as responses show it; see window.opens_at'
FROM ends
UNION ALL
SELECT
    'window.last_at',
    strftime(last_at, '%Y-%m-%dT%H:%M:%S.%fZ'),
    'receive time of the last affected response (probable or better)'
FROM ends
UNION ALL
SELECT
    'window.last_request',
    last_request,
    'request that fixes the end of the window as far as responses show it; see window.closes_at'
FROM ends
UNION ALL
SELECT 'evidence.first_at', strftime(low, '%Y-%m-%dT%H:%M:%S.%fZ'), 'first receive time of a request in the evidence'
FROM span
UNION ALL
SELECT 'evidence.last_at', strftime(high, '%Y-%m-%dT%H:%M:%S.%fZ'), 'last time of a request in the evidence'
FROM span
UNION ALL
SELECT
    'engine.first_alarm_at',
    strftime("at", '%Y-%m-%dT%H:%M:%S.%fZ'),
    coalesce(replace(kind, '_', ' ') || ': first alarm that an engine logged', 'no engine logged an alarm (double free, damaged pages)')
FROM alarms
UNION ALL
SELECT
    'declared.fault_began',
    strftime(TRY_CAST(began AS TIMESTAMPTZ) AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ'),
    CASE WHEN began IS NULL THEN 'nobody declared when the fault began (`forensics controls --fault-began`)' ELSE 'as declared to the controls' END
FROM declared
UNION ALL
SELECT
    'declared.fault_fixed',
    strftime(TRY_CAST(fixed AS TIMESTAMPTZ) AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ'),
    CASE WHEN fixed IS NULL THEN 'nobody declared when the fault was fixed (`forensics controls --fault-fixed`)' ELSE 'as declared to the controls' END
FROM declared
ORDER BY name
