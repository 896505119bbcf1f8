-- question: (effect) which processes wrote the engine's events, by what the events say of them?
-- inputs:   engine_events
-- grain:    one row per source x worker x attributes of events; batches of the probe, whose attributes are long, by name
-- parameters: none
-- order:    none
-- `process` tells one run of one scheduler from another; ranks of a tensor- or pipeline-parallel group repeat each other,
-- and only the lowest of each is `kept`.
CREATE OR REPLACE TEMP TABLE event_places AS
WITH told AS (
    SELECT DISTINCT
        CASE
            WHEN kind LIKE 'probe\_%' ESCAPE '\' THEN 'probe'
            WHEN kind = 'schedule' THEN 'schedule'
            WHEN kind IN ('scheduler_status', 'status_running', 'status_queued') THEN 'scheduler_status'
            WHEN kind = 'request_time_stats' THEN 'time_stats'
            ELSE 'log'
        END AS source,
        worker,
        attributes
    FROM engine_events
    WHERE kind IN (
            'probe_slot_alloc', 'probe_slot_free', 'probe_slot_clear', 'probe_recv', 'probe_retract', 'probe_finish',
            'probe_flush', 'schedule',
            'scheduler_status', 'status_running', 'request_time_stats', 'prefill_batch', 'decode_batch',
            'scheduler_start', 'retraction', 'engine_release', 'cache_flush', 'abort'
        )
    UNION
    SELECT
        'probe',
        worker,
        to_json({
            'pid': (attributes ->> '$.pid')::BIGINT,
            'tp_rank': (attributes ->> '$.tp_rank')::BIGINT,
            'dp_rank': (attributes ->> '$.dp_rank')::BIGINT,
            'pp_rank': (attributes ->> '$.pp_rank')::BIGINT
        })::VARCHAR
    FROM engine_events
    WHERE kind = 'probe_batch_start'
),
ranked AS (
    SELECT
        source,
        worker,
        attributes,
        coalesce(
            TRY_CAST(attributes ->> '$.dp_rank' AS BIGINT), TRY_CAST(regexp_extract(worker, '\bDP(\d+)$', 1) AS BIGINT)
        ) AS dp_rank,
        attributes ->> '$.pid' AS process,
        attributes ->> '$.forward_mode' AS mode,
        coalesce(TRY_CAST(attributes ->> '$.tp_rank' AS BIGINT), 0) AS tp_rank,
        coalesce(TRY_CAST(attributes ->> '$.pp_rank' AS BIGINT), 0) AS pp_rank
    FROM told
)
SELECT
    source,
    worker,
    attributes,
    dp_rank,
    process,
    mode,
    tp_rank = min(tp_rank) OVER alike AND pp_rank = min(pp_rank) OVER alike AS kept,
    dense_rank() OVER (ORDER BY source, worker NULLS FIRST, dp_rank NULLS FIRST, process NULLS FIRST)::INTEGER AS place
FROM ranked
WINDOW alike AS (PARTITION BY source, worker, dp_rank)
