-- question: (audit) which verdicts are no verdicts, missing, or left over?
-- inputs:   fragments, verdicts, stages
-- grain:    one row per bad fragment
-- parameters: none
-- order:    subject, problem
SELECT 'fragment ' || fragment_id AS subject, 'the machine verdict is not one that a machine may give' AS problem
FROM fragments
WHERE machine_verdict NOT IN ('probable', 'possible', 'undetermined')
UNION ALL
SELECT 'fragment ' || fragment_id, 'the verdict is not a verdict'
FROM verdicts
WHERE verdict NOT IN ('confirmed', 'probable', 'possible', 'excluded', 'undetermined')
UNION ALL
SELECT 'fragment ' || verdicts.fragment_id, 'has a verdict but does not exist'
FROM verdicts
ANTI JOIN fragments USING (fragment_id)
WHERE EXISTS (SELECT 1 FROM stages WHERE stage = 'attribution')
UNION ALL
SELECT 'fragment ' || fragments.fragment_id, 'has no verdict although scope has run'
FROM fragments
ANTI JOIN verdicts USING (fragment_id)
WHERE EXISTS (SELECT 1 FROM stages WHERE stage = 'scope')
ORDER BY subject, problem
