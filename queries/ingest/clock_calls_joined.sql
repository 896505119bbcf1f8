-- question: (effect) which pairs of rows tell how far two clocks are apart, once all is joined?
-- inputs:   join_links
-- grain:    one row per pair of calls
-- parameters: none
-- order:    none
-- What was joined by its time says nothing of the clocks.
CREATE OR REPLACE TEMP TABLE clock_calls AS
SELECT near, far, near_vantage, far_vantage
FROM join_links
WHERE basis IN ('id', 'derived_id', 'id_and_text', 'text')
