-- question: what is known of each step: trigger, first bad response, first report, awareness, containment, fix, verification?
-- inputs:   numbers, notice_facts
-- grain:    one row per step; steps that no log can know say so
-- parameters: none
-- order:    the order in which such steps come
-- empty:    never: a step that is not known says so
-- Times of logs are figures of scope, as in the report.
WITH wanted (place, step, figure, known, otherwise) AS (
    VALUES
        (1, 'evidence begins', 'evidence.first_at', 'known', 'unknown'),
        (2, 'trigger', 'window.opens_at', 'candidate', 'unknown_to_fill'),
        (3, 'onset of the fault', 'fault.onset', 'estimated', 'unknown'),
        (4, 'fault began, as declared', 'declared.fault_began', 'declared', 'unknown_to_fill'),
        (5, 'first affected response', 'window.first_at', 'known', 'none'),
        (6, 'first alarm of an engine', 'engine.first_alarm_at', 'known', 'none'),
        (10, 'last affected response', 'window.last_at', 'known', 'none'),
        (11, 'end of the fault', 'fault.end', 'estimated', 'unknown'),
        (12, 'what may have ended it', 'window.closes_at', 'candidate', 'unknown_to_fill'),
        (13, 'fix', 'declared.fault_fixed', 'declared', 'unknown_to_fill'),
        (15, 'evidence ends', 'evidence.last_at', 'known', 'unknown')
),
figures AS (
    SELECT name, value ->> '$' AS text, TRY_CAST(value ->> '$' AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS "at", method
    FROM numbers
),
lacking AS (
    SELECT
        CASE WHEN (SELECT count(*) FROM numbers) = 0 THEN 'not known: `forensics scope` has not run'
            ELSE 'not known: what tells it has not run' END AS why
),
logged AS (
    SELECT
        w.place,
        w.step,
        f."at",
        low."at" AS low,
        high."at" AS high,
        CASE WHEN f."at" IS NULL THEN w.otherwise ELSE w.known END AS status,
        coalesce(f.method, l.why) || coalesce('; request ' || r.text, '') AS basis
    FROM wanted AS w
    CROSS JOIN lacking AS l
    LEFT JOIN figures AS f ON f.name = w.figure
    LEFT JOIN figures AS low ON low.name = w.figure || '.earliest'
    LEFT JOIN figures AS high ON high.name = w.figure || '.latest'
    LEFT JOIN figures AS r ON r.name = replace(w.figure, '_at', '_request')
),
by_people (place, step, key, otherwise, verb) AS (
    VALUES
        (7, 'first report', 'discovered', 'not in these logs', 'forensics notify'),
        (8, 'awareness', 'aware', 'only a person sets it', 'forensics notify --aware-at')
),
said AS (
    SELECT key, TRY_CAST(arg_max(value, ("at", name)) AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS "at"
    FROM notice_facts
    WHERE tenant_ref = ''
    GROUP BY key
),
steps AS (
    SELECT place, step, "at", low, high, status, basis
    FROM logged
    UNION ALL
    SELECT
        p.place,
        p.step,
        s."at",
        NULL,
        NULL,
        CASE WHEN s."at" IS NULL THEN 'unknown_to_fill' ELSE 'set by a person' END,
        CASE WHEN s."at" IS NULL THEN p.otherwise ELSE p.verb END
    FROM by_people AS p
    LEFT JOIN said AS s ON s.key = p.key
    UNION ALL
    SELECT 9, 'containment', NULL, NULL, NULL, 'unknown_to_fill', 'not in these logs'
    UNION ALL
    SELECT
        14,
        'verification',
        NULL,
        NULL,
        NULL,
        'unknown_to_fill',
        coalesce(
            (
                SELECT total || ' examined responses after the last affected one, none of them affected (`ask has-it-stopped`)'
                FROM numbers
                WHERE name = 'rate.after_window'
            ),
            'a person judges it, by what came after the last affected response'
        )
)
SELECT step, "at", low, high, status, basis
FROM steps
ORDER BY place
