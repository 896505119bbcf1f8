-- question: which stages made these results, with which version and inputs?
-- inputs:   stages
-- grain:    one row per stage that the report rests on
-- parameters: none
-- order:    stage
SELECT stage, version, input_digest
FROM stages
WHERE stage <> 'report'
ORDER BY stage
