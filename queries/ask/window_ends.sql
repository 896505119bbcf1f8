-- question: what are the first and last possible leak, and which event fixes each end?
-- inputs:   numbers
-- grain:    one row per end of the window: by affected responses, by estimate, by engine event
-- parameters: none
-- order:    first to last
-- empty:    never: an end that is not known says so
-- What came after: `ask has-it-stopped`.
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
        (10, 'cannot have lasted beyond', 'window.closes_at')
)
SELECT
    w."end",
    n.value ->> '$' AS "at",
    coalesce(
        n.method,
        CASE WHEN (SELECT count(*) FROM numbers) = 0 THEN 'not computed: `forensics scope CASE` has not run'
            ELSE 'not estimated: the timeline has not run' END
    ) AS fixed_by
FROM wanted AS w
LEFT JOIN numbers AS n ON n.name = w.name
ORDER BY w.place
