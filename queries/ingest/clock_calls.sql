-- question: (effect) which pairs of rows tell how far two clocks are apart, before anything is joined?
-- inputs:   join_candidates
-- grain:    one row per pair of calls
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE clock_calls AS
SELECT near, far, near_vantage, far_vantage, 'ids' AS told_by
FROM join_candidates
WHERE tier <= 2
QUALIFY count(*) OVER (PARTITION BY near, far_vantage) = 1 AND count(*) OVER (PARTITION BY far, near_vantage) = 1
