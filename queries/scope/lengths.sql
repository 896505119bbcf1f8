-- question: how long are the fragments that are probable or better, in code points?
-- inputs:   fragments, verdicts
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    count(*) AS fragments,
    min(f."end" - f."start") AS shortest,
    quantile_disc(f."end" - f."start", 0.5) AS median,
    max(f."end" - f."start") AS longest,
    count(*) FILTER (WHERE f."end" - f."start" < 80) AS below_80
FROM fragments AS f
INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
WHERE v.verdict IN ('confirmed', 'probable')
