-- question: how many calls of each vantage were found at each other one?
-- inputs:   join_outcomes
-- grain:    one row per vantage x other vantage x outcome
-- parameters: none
-- order:    vantage, other_vantage, outcome
SELECT vantage, other_vantage, outcome, requests
FROM join_outcomes
ORDER BY vantage, other_vantage, outcome
