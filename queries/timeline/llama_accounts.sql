-- question: (effect) how many of llama.cpp's tasks could be tied to calls?
-- inputs:   llama_stays, request_workers, engine_events
-- grain:    one row per worker with calls in slots, or one in all where lines tell of slots and no call has one
-- parameters: none
-- order:    none (INSERT)
INSERT INTO slot_derivations BY NAME
WITH tasks AS (
    SELECT count(DISTINCT (evidence, attributes ->> '$.process', slot, counts ->> '$.task')) AS tasks
    FROM engine_events
    WHERE kind = 'slot_free' AND slot IS NOT NULL
),
workers AS (
    SELECT w.worker, l.basis, count(DISTINCT l.slot) AS slots, count(*) AS given
    FROM llama_stays AS l
    INNER JOIN request_workers AS w ON w.request = l.request
    GROUP BY w.worker, l.basis
),
told AS (
    SELECT
        worker,
        basis,
        slots,
        CASE WHEN basis = 'logged' THEN given ELSE greatest((SELECT tasks FROM tasks), given) END AS stays,
        given,
        CASE
            WHEN basis = 'logged' THEN 'the server wrote who got which slot'
            ELSE 'slot lines name no call and no time: tied by token counts and order, where these are unique'
        END AS reason
    FROM workers
    UNION ALL
    SELECT
        'unknown',
        'none',
        NULL,
        tasks,
        0,
        'slot lines name no call and no time, and no token counts tie them to calls'
    FROM tasks
    WHERE tasks > 0 AND NOT EXISTS (SELECT 1 FROM workers)
)
SELECT
    worker,
    basis,
    NULL::VARCHAR AS policy,
    NULL::VARCHAR AS version,
    NULL::BIGINT AS first_slot,
    slots,
    stays,
    given,
    0 AS checks,
    0 AS agreed,
    reason
FROM told
