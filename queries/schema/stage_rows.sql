-- question: which stages have run, with which inputs?
-- inputs:   stages
-- grain:    one row per stage
-- parameters: none
-- order:    stage
SELECT stage, version, parameters, input_digest, outputs, summary
FROM stages
ORDER BY stage
