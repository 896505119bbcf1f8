-- question: (effect) which calls of gateway and client would be one through the engine, unseen by any prompt?
-- inputs:   join_links
-- grain:    one row per pair of calls
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE open_pairs AS
SELECT e.near, f.far, 'gateway' AS near_vantage, 'client' AS far_vantage, TRUE AS ask_prompts
FROM join_links e
JOIN join_links f ON f.near = e.far AND f.near_vantage = 'engine' AND f.far_vantage = 'client'
WHERE e.near_vantage = 'gateway' AND e.far_vantage = 'engine'
    AND (ends_with(e.basis, '_no_prompt') OR ends_with(f.basis, '_no_prompt'))
