-- question: (effect) which pairs of rows tell how far two clocks are apart, once all is joined?
-- inputs:   join_links, clock_calls
-- grain:    one row per pair of calls
-- parameters: none
-- order:    none
-- What was joined by its time says nothing of the clocks, unless its text was enough to tell the offset in the first
-- place.
CREATE OR REPLACE TEMP TABLE clock_calls AS
SELECT l.near, l.far, l.near_vantage, l.far_vantage,
    CASE WHEN l.basis IN ('text', 'text_and_time') THEN 'texts' ELSE 'ids' END AS told_by
FROM join_links l
WHERE l.basis NOT IN ('shared_id', 'text_and_time', 'shared_id_no_prompt')
    OR (l.basis = 'text_and_time' AND (l.near, l.far) IN (SELECT (near, far) FROM clock_calls WHERE told_by = 'texts'))
