-- question: which stages made these results, with which version, settings and inputs?
-- inputs:   stages
-- grain:    one row per stage that has run
-- parameters: none
-- order:    stage
-- empty:    no stage has run in this case yet
SELECT stage, version, parameters, input_digest, outputs
FROM stages
ORDER BY stage
