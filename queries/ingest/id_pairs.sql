-- question: (effect) which pairs of calls that an id may join are to be compared?
-- inputs:   join_candidates
-- grain:    one row per pair of calls
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE open_pairs AS
SELECT near, far, near_vantage, far_vantage, bool_and(brought) AS ask_prompts
FROM join_candidates
GROUP BY near, far, near_vantage, far_vantage
