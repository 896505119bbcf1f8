-- question: (effect) which calls of two vantages hold an equal text that may tell them?
-- inputs:   text_keys; makes text_pairs and open_pairs
-- grain:    one row per pair of calls
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE text_pairs AS
SELECT n.near_vantage, n.far_vantage, n.key AS near, f.key AS far,
    bool_or(n.told_by <> 'prompt') AS by_response,
    bool_or(n.told_by <> 'response') AS by_prompt,
    max(n.code_points) FILTER (WHERE n.calls = 1 AND f.calls = 1) AS unique_code_points,
    bool_or(n.told_by = 'both' AND n.calls = 1 AND f.calls = 1) AS unique_both
FROM text_keys n
JOIN text_keys f ON f.near_vantage = n.near_vantage AND f.far_vantage = n.far_vantage AND f.text_key = n.text_key
WHERE n.near AND NOT f.near
GROUP BY n.near_vantage, n.far_vantage, n.key, f.key;
CREATE OR REPLACE TEMP TABLE open_pairs AS
SELECT near, far, near_vantage, far_vantage, FALSE AS ask_prompts
FROM text_pairs
