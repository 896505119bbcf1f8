-- question: what did the controls measure, of the attribution that stands now?
-- inputs:   controls, stages
-- grain:    one row per figure
-- parameters: none
-- order:    measure, class
SELECT
    c.measure,
    c.class,
    c.value,
    c.n,
    c.total,
    c.low,
    c.high,
    c.method,
    c.attribution_digest = s.input_digest AS current
FROM controls AS c
INNER JOIN stages AS s ON s.stage = 'attribution'
ORDER BY c.measure, c.class
