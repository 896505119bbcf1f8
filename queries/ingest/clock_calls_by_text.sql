-- question: (effect) which pairs of rows tell how far two clocks are apart, where ids tell it of fewer than five?
-- inputs:   clock_calls, text_keys
-- grain:    one row per pair of calls of which a text of 64 code points or more tells that they may be one
-- parameters: none
-- order:    none
INSERT INTO clock_calls BY NAME
WITH few AS (
    SELECT near_vantage, far_vantage
    FROM (SELECT DISTINCT near_vantage, far_vantage FROM text_keys)
    WHERE (near_vantage, far_vantage) NOT IN (
        SELECT (near_vantage, far_vantage)
        FROM clock_calls
        GROUP BY near_vantage, far_vantage
        HAVING count(*) >= 5
    )
)
SELECT DISTINCT n.key AS near, f.key AS far, n.near_vantage, n.far_vantage, 'texts' AS told_by
FROM few
JOIN text_keys n ON n.near_vantage = few.near_vantage AND n.far_vantage = few.far_vantage
JOIN text_keys f ON f.near_vantage = n.near_vantage AND f.far_vantage = n.far_vantage AND f.text_key = n.text_key
WHERE n.near AND NOT f.near AND n.calls = 1 AND f.calls = 1 AND n.code_points >= 64
