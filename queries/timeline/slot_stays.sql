-- question: (effect) who held which slot from when to when, as the probe wrote it?
-- inputs:   engine_events, event_places, call_names
-- grain:    one row per time a slot was given
-- parameters: none
-- order:    none
-- A slot that is given again without having been freed was free by then at the latest; one that is never freed is held
-- to the last event of its process. All are free once the probe says that the pool was cleared. Calls that the case does not have (health checks) hold slots, too: request is null.
CREATE OR REPLACE TEMP TABLE slot_stays AS
WITH events AS (
    SELECT
        e.place,
        TRY_CAST(v.slot AS BIGINT) AS slot,
        v."at",
        v.evidence,
        v.byte_offset,
        v.request_id AS rid,
        v.kind = 'probe_slot_alloc' AS given
    FROM engine_events AS v
    INNER JOIN event_places AS e
        ON e.source = 'probe'
        AND e.worker IS NOT DISTINCT FROM v.worker AND e.attributes IS NOT DISTINCT FROM v.attributes
    WHERE v.kind IN ('probe_slot_alloc', 'probe_slot_free') AND v.slot IS NOT NULL AND v."at" IS NOT NULL AND e.kept
),
clears AS (
    SELECT e.place, v."at"
    FROM engine_events AS v
    INNER JOIN event_places AS e
        ON e.source = 'probe'
        AND e.worker IS NOT DISTINCT FROM v.worker AND e.attributes IS NOT DISTINCT FROM v.attributes
    WHERE v.kind = 'probe_slot_clear' AND v."at" IS NOT NULL
),
cleared AS (
    SELECT v.place, v.slot, v."at", v.evidence, v.byte_offset, min(c."at") AS cleared_at
    FROM events AS v
    INNER JOIN clears AS c ON c.place = v.place AND c."at" >= v."at"
    WHERE v.given
    GROUP BY v.place, v.slot, v."at", v.evidence, v.byte_offset
),
followed AS (
    SELECT
        *,
        lead("at") OVER same_slot AS next_at,
        lead(given) OVER same_slot AS next_given,
        max("at") OVER (PARTITION BY place) AS last_at
    FROM events
    WINDOW same_slot AS (PARTITION BY place, slot ORDER BY "at", evidence, byte_offset)
),
stays AS (
    SELECT
        f.place,
        f.slot,
        f.rid,
        f."at" AS starts,
        least(coalesce(f.next_at, c.cleared_at, f.last_at), coalesce(c.cleared_at, f.next_at, f.last_at)) AS ends,
        CASE
            WHEN c.cleared_at <= coalesce(f.next_at, c.cleared_at) THEN 1.0
            WHEN f.next_given THEN 0.5
            WHEN f.next_at IS NULL THEN 0.9
            ELSE 1.0
        END AS confidence,
        row_number() OVER (ORDER BY f.place, f.slot, f."at", f.evidence, f.byte_offset) - 1 AS stay
    FROM followed AS f
    LEFT JOIN cleared AS c
        ON c.place = f.place AND c.slot = f.slot AND c."at" = f."at" AND c.evidence = f.evidence
        AND c.byte_offset = f.byte_offset
    WHERE f.given
),
named AS (
    SELECT s.stay, c.request
    FROM stays AS s
    INNER JOIN call_names AS c ON c.rid = s.rid
    WHERE NOT c.repeated
    UNION ALL
    SELECT s.stay, c.request
    FROM (SELECT * FROM stays WHERE rid IN (SELECT rid FROM call_names WHERE repeated)) AS s
    ASOF INNER JOIN (SELECT rid, request, starts FROM call_names WHERE repeated AND starts IS NOT NULL) AS c
        ON c.rid = s.rid AND s.starts >= c.starts
)
SELECT s.place, s.slot, n.request, s.starts, s.ends, s.confidence, 'logged' AS basis, 'probe' AS source
FROM stays AS s
LEFT JOIN named AS n ON n.stay = s.stay
