-- question: (effect) what does the round join, and what does it leave apart for good?
-- inputs:   join_round; adds to join_links and join_refusals
-- grain:    one row per link; one row per call that is left apart
-- parameters: none
-- order:    none
INSERT INTO join_links BY NAME
SELECT near, far, near_vantage, far_vantage, basis, near_kind, far_kind, form
FROM join_round
WHERE firm;
INSERT INTO join_refusals BY NAME
WITH apart AS (
    SELECT near, far, near_vantage, far_vantage, coalesce(refused, 'tie') AS reason
    FROM join_round
    WHERE NOT firm
),
sides AS (
    SELECT near AS key, far_vantage AS other_vantage, reason FROM apart
    UNION ALL
    SELECT far, near_vantage, reason FROM apart
)
SELECT s.key, s.other_vantage, min(s.reason) AS reason, bool_or(s.reason <> 'not_corroborated') AS final
FROM sides s
WHERE NOT EXISTS (
    FROM join_links l
    WHERE (l.near = s.key AND l.far_vantage = s.other_vantage) OR (l.far = s.key AND l.near_vantage = s.other_vantage)
)
GROUP BY s.key, s.other_vantage
