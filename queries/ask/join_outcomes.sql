-- question: how many calls of each vantage were found at each other one, and why were the rest left apart?
-- inputs:   join_outcomes
-- grain:    one row per vantage x other vantage x outcome
-- parameters: none
-- order:    vantage, other_vantage, outcome
-- empty:    all requests were seen at one place, so that nothing had to be joined
SELECT vantage, other_vantage, outcome, requests,
    CAST(sum(requests) OVER (PARTITION BY vantage, other_vantage) AS BIGINT) AS requests_of_vantage,
    requests / sum(requests) OVER (PARTITION BY vantage, other_vantage) AS share
FROM join_outcomes
ORDER BY vantage, other_vantage, outcome
