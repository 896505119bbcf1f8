-- question: which responses carry a fragment of any verdict?
-- inputs:   fragments
-- grain:    one row per recipient request
-- parameters: none
-- order:    request
SELECT DISTINCT request
FROM fragments
ORDER BY request
