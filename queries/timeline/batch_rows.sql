-- question: (effect) which calls had a row in which forward pass?
-- inputs:   batch_keys, probe_batches, engine_events, call_names
-- grain:    one row per forward pass x call
-- parameters: none
-- order:    none
-- A name that several calls share is the one that was received last before the pass.
CREATE OR REPLACE TEMP TABLE batch_rows AS
WITH probe_rows AS (
    SELECT
        p.name,
        unnest(p.rids) AS rid,
        unnest(coalesce(p.slots, list_resize([]::BIGINT[], len(p.rids)))) AS slot
    FROM probe_batches AS p
),
named AS (
    SELECT k.batch, k."at", r.rid, CASE WHEN r.slot >= 0 THEN r.slot END AS slot
    FROM probe_rows AS r
    INNER JOIN batch_keys AS k ON k.source = 'probe' AND k.name = r.name
    UNION ALL
    SELECT k.batch, k."at", v.request_id, NULL
    FROM engine_events AS v
    INNER JOIN batch_keys AS k ON k.source = 'schedule' AND k.name = v.batch
    WHERE v.kind = 'schedule'
    UNION ALL
    SELECT k.batch, k."at", v.request_id, NULL
    FROM engine_events AS v
    INNER JOIN batch_keys AS k ON k.source = 'scheduler_status' AND k.name = v.evidence || '|' || v.batch
    WHERE v.kind = 'status_running'
),
once AS (
    SELECT n.batch, c.request, n.slot
    FROM named AS n
    INNER JOIN call_names AS c ON c.rid = n.rid
    WHERE NOT c.repeated
),
again AS (
    SELECT n.batch, c.request, n.slot
    FROM (SELECT * FROM named WHERE rid IN (SELECT rid FROM call_names WHERE repeated)) AS n
    ASOF INNER JOIN (SELECT rid, request, starts FROM call_names WHERE repeated AND starts IS NOT NULL) AS c
        ON c.rid = n.rid AND n."at" >= c.starts
)
SELECT batch, request, slot
FROM once
UNION ALL
SELECT batch, request, slot
FROM again
