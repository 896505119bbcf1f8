-- question: did an integrity check raise an alarm on the worker while the recipient was served?
-- inputs:   leak_pairs, engine_events, residencies
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where no check spoke at all: it was probably off.
INSERT INTO pair_facts BY NAME
WITH alarms AS (
    SELECT worker, "at"
    FROM engine_events
    WHERE kind IN ('kv_canary_violation', 'kv_double_free', 'memory_leak') AND "at" IS NOT NULL
),
served AS (
    SELECT request, worker, min("start") AS first_at, max("end") AS last_at
    FROM residencies
    GROUP BY request, worker
),
alarmed AS (
    SELECT DISTINCT s.request
    FROM served AS s
    INNER JOIN alarms AS a ON a.worker = s.worker AND a."at" BETWEEN s.first_at AND s.last_at
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'integrity_alarm' AS predicate,
    bool_or(CASE WHEN t.told THEN f.request IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN alarmed AS f ON f.request = p.recipient
CROSS JOIN (
    SELECT count(*) > 0 AS told
    FROM alarms
) AS t
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
