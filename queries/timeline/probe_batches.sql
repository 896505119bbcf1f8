-- question: (effect) which rows did each forward pass have, as the probe wrote them?
-- inputs:   engine_events, event_places
-- grain:    one row per forward pass of a process that is kept
-- parameters: none
-- order:    none
-- A run of passes with the same rows is one event: its passes are spread evenly over its time.
CREATE OR REPLACE TEMP TABLE probe_batches AS
WITH parsed AS (
    SELECT
        worker,
        batch AS name,
        iteration,
        "at",
        (counts ->> '$.size')::BIGINT AS size,
        from_json(
            attributes,
            '{"mode": "VARCHAR", "rid": ["VARCHAR"], "slot": ["BIGINT"], "pid": "BIGINT", "tp_rank": "BIGINT", "dp_rank": "BIGINT", "pp_rank": "BIGINT"}'
        ) AS told
    FROM engine_events
    WHERE kind = 'probe_batch_start' AND batch IS NOT NULL
),
placed AS (
    SELECT
        p.*,
        to_json({
            'pid': p.told.pid, 'tp_rank': p.told.tp_rank, 'dp_rank': p.told.dp_rank, 'pp_rank': p.told.pp_rank
        })::VARCHAR AS attributes
    FROM parsed AS p
),
written AS (
    SELECT
        e.place,
        b.name,
        b.iteration,
        b."at",
        CASE
            WHEN b.told.mode IN ('prefill', 'decode', 'mixed') THEN b.told.mode
            WHEN b.told.mode = 'extend' THEN 'prefill'
            ELSE 'other'
        END AS kind,
        b.size,
        b.told.rid AS rids,
        b.told.slot AS slots
    FROM placed AS b
    INNER JOIN event_places AS e
        ON e.source = 'probe' AND e.worker IS NOT DISTINCT FROM b.worker AND e.attributes = b.attributes
    WHERE e.kept
),
repeats AS (
    SELECT
        batch AS name,
        iteration AS first_pass,
        TRY_CAST(counts ->> '$.last' AS BIGINT) AS last_pass,
        coalesce(TRY_CAST(counts ->> '$.from_us' AS BIGINT), epoch_us("at")) AS from_us,
        epoch_us("at") AS to_us
    FROM engine_events
    WHERE kind = 'probe_batch_repeat' AND batch IS NOT NULL AND iteration IS NOT NULL AND "at" IS NOT NULL
),
passes AS (
    SELECT *, unnest(range(first_pass, last_pass + 1)) AS iteration
    FROM repeats
)
SELECT place, name, iteration, "at", kind, size, rids, slots
FROM written
UNION ALL
SELECT
    w.place,
    w.name || '+' || p.iteration,
    p.iteration,
    make_timestamp(
        p.from_us + ((p.to_us - p.from_us) * (p.iteration - p.first_pass)) // greatest(p.last_pass - p.first_pass, 1)
    ),
    w.kind,
    w.size,
    w.rids,
    w.slots
FROM passes AS p
INNER JOIN written AS w ON w.name = p.name
