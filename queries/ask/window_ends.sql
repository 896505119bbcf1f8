-- question: what are the first and last possible leak, which event fixes each end, and did anything appear after it?
-- inputs:   numbers
-- grain:    one row per end of the window: by affected responses, by estimate, by engine event
-- parameters: none
-- order:    first to last
-- empty:    never: an end that is not known says so
WITH wanted (place, "end", name) AS (
    VALUES
        (1, 'cannot have begun before', 'window.opens_at'),
        (2, 'onset, earliest', 'fault.onset.earliest'),
        (3, 'onset, most likely', 'fault.onset'),
        (4, 'onset, latest', 'fault.onset.latest'),
        (5, 'first affected response', 'window.first_at'),
        (6, 'last affected response', 'window.last_at'),
        (7, 'end, earliest', 'fault.end.earliest'),
        (8, 'end, most likely', 'fault.end'),
        (9, 'end, latest', 'fault.end.latest'),
        (10, 'cannot have lasted beyond', 'window.closes_at'),
        (11, 'affected after the last affected response', 'rate.after_window'),
        (12, 'affected after the event that closes the window', 'rate.after_closing'),
        (13, 'affected after the declared fix', 'controls.rate.after_fix.probable')
)
SELECT
    w."end",
    CASE WHEN w.place > 10 THEN NULL ELSE n.value ->> '$' END AS "at",
    n.n,
    n.total,
    n.high AS rate_at_most,
    coalesce(
        n.method,
        CASE
            WHEN (SELECT count(*) FROM numbers) = 0 THEN 'not computed: `forensics scope CASE` has not run'
            WHEN w.place = 12 THEN 'does not apply: no event closes the window in these logs'
            WHEN w.place = 13 THEN 'no fix is declared: `forensics controls CASE --fault-fixed TIME`'
            ELSE 'not estimated: the timeline has not run'
        END
    ) AS fixed_by
FROM wanted AS w
LEFT JOIN numbers AS n ON n.name = w.name
ORDER BY w.place
