-- question: what did the timeline stage warn of?
-- inputs:   stages
-- grain:    one row per warning
-- parameters: none
-- order:    as reported
SELECT unnest(CAST(summary::JSON -> 'warnings' AS VARCHAR[])) AS note
FROM stages
WHERE stage = 'timeline'
