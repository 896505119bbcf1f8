-- question: (effect) when was each call admitted and done, as the scheduler says of each that ends?
-- inputs:   engine_events, event_places, call_names
-- grain:    one row per line of times; calls that the case does not have stand there, too
-- parameters: none
-- order:    none
-- Three regimes: entry_at_us is a time of day to the millisecond; start_s is of the host's clock since it booted, which the
-- stamps of the lines tie to the day (each line is written within the second of its stamp, after its call was done);
-- completed_at_us is the end alone.
CREATE OR REPLACE TEMP TABLE time_stats AS
WITH lines AS (
    SELECT
        e.place,
        v.evidence,
        v.byte_offset,
        v."at",
        v.request_id AS rid,
        from_json(
            v.counts,
            '{"entry_at_us": "BIGINT", "start_s": "DOUBLE", "completed_at_us": "BIGINT", "queue_duration_ms": "DOUBLE", "forward_duration_ms": "DOUBLE", "attempts": "BIGINT", "input_len": "BIGINT", "cached_input_len": "BIGINT"}'
        ) AS told,
        coalesce(v.attributes ->> '$.type', 'unified') AS sort
    FROM engine_events AS v
    INNER JOIN event_places AS e
        ON e.source = 'time_stats'
        AND e.worker IS NOT DISTINCT FROM v.worker AND e.attributes IS NOT DISTINCT FROM v.attributes
    WHERE v.kind = 'request_time_stats' AND e.kept
),
lags AS (
    SELECT
        place,
        evidence,
        epoch_us("at") % 1000000 <> 0 AS finer,
        epoch_us("at") - (told.start_s * 1e6 + (told.queue_duration_ms + told.forward_duration_ms) * 1e3) AS lag_us
    FROM lines
    WHERE told.start_s > 0 AND "at" IS NOT NULL
),
clocks AS (
    -- What to add to the host's clock: a stamp is cut to its second, and no line is written before its call is done.
    SELECT
        place,
        evidence,
        (max(lag_us) + min(lag_us) + CASE WHEN bool_or(finer) THEN 1e3 ELSE 1e6 END) / 2 AS middle
    FROM lags
    GROUP BY place, evidence
),
timed AS (
    SELECT
        l.*,
        CASE
            WHEN l.told.entry_at_us IS NOT NULL THEN 'entry_time'
            WHEN l.told.start_s > 0 THEN 'monotonic'
            WHEN l.told.completed_at_us IS NOT NULL THEN 'completion'
            ELSE 'stamp'
        END AS regime,
        CASE
            WHEN l.told.entry_at_us IS NOT NULL THEN l.told.entry_at_us
            WHEN l.told.start_s > 0 THEN (l.told.start_s * 1e6 + c.middle)::BIGINT
        END AS entered_us
    FROM lines AS l
    LEFT JOIN clocks AS c ON c.place = l.place AND c.evidence = l.evidence
),
stays AS (
    SELECT
        place,
        evidence,
        byte_offset,
        rid,
        sort,
        regime,
        told.attempts AS attempts,
        told.input_len AS input_len,
        told.cached_input_len AS cached_input_len,
        entered_us,
        round(told.queue_duration_ms * 1e3)::BIGINT AS waited_us,
        (entered_us + told.queue_duration_ms * 1e3)::BIGINT AS admitted_us,
        coalesce(
            (entered_us + (told.queue_duration_ms + told.forward_duration_ms) * 1e3)::BIGINT,
            told.completed_at_us,
            epoch_us("at")
        ) AS done_us,
        row_number() OVER (ORDER BY evidence, byte_offset) - 1 AS line
    FROM timed
    WHERE coalesce(told.forward_duration_ms, 0) BETWEEN 0 AND 1e9 AND coalesce(told.queue_duration_ms, 0) BETWEEN -1 AND 1e9
),
named AS (
    SELECT s.line, c.request
    FROM stays AS s
    INNER JOIN call_names AS c ON c.rid = s.rid
    WHERE NOT c.repeated
    UNION ALL
    SELECT s.line, c.request
    FROM (SELECT * FROM stays WHERE rid IN (SELECT rid FROM call_names WHERE repeated)) AS s
    ASOF INNER JOIN (SELECT rid, request, starts FROM call_names WHERE repeated AND starts IS NOT NULL) AS c
        ON c.rid = s.rid AND make_timestamp(coalesce(s.entered_us, s.done_us)) >= c.starts
)
SELECT s.*, n.request
FROM stays AS s
LEFT JOIN named AS n ON n.line = s.line
