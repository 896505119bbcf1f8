-- question: how many texts of how many calls do two vantages log differently?
-- inputs:   divergences
-- grain:    one row per side x pair of vantages x kind of difference
-- parameters: none
-- order:    side, vantage_a, vantage_b, kind
SELECT side, vantage_a, vantage_b, kind, count(DISTINCT request) AS requests, count(*) AS texts
FROM divergences
GROUP BY side, vantage_a, vantage_b, kind
ORDER BY side, vantage_a, vantage_b, kind
