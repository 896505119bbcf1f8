-- question: has it stopped: how many examined responses came after, how many of them are affected, and what rate is still possible?
-- inputs:   numbers
-- grain:    one row per period
-- parameters: none
-- order:    before, in, after
-- empty:    never: a period that nothing delimits says so
-- None of n examined responses affected still allows a rate of about 3/n (95 %).
WITH wanted (place, period, name) AS (
    VALUES
        (1, 'before the first affected response', 'rate.before_window'),
        (2, 'from the first to the last affected response', 'rate.in_window'),
        (3, 'after the last affected response', 'rate.after_window'),
        (4, 'after the event that closes the window', 'rate.after_closing'),
        (5, 'after the declared fix', 'controls.rate.after_fix.probable'),
        (6, 'all of the evidence, where nothing is affected', 'rate.whole'),
        (7, 'chance of so long a silence if nothing had changed', 'stopped.chance')
)
SELECT
    w.period,
    n.n AS affected,
    n.total AS examined,
    n.value ->> '$' AS rate,
    n.low,
    n.high,
    coalesce(
        n.method,
        CASE WHEN (SELECT count(*) FROM numbers) = 0 THEN 'not computed: `forensics scope CASE` has not run'
            WHEN w.place = 5 THEN 'no fix is declared: `forensics controls CASE --fault-fixed TIME`'
            ELSE 'does not apply' END
    ) AS method
FROM wanted AS w
LEFT JOIN numbers AS n ON n.name = w.name
ORDER BY w.place
