-- question: (effect) forget the last run of one stage
-- inputs:   stages
-- grain:    one row per stage
-- parameters: stage
-- order:    none
DELETE FROM stages
WHERE stage = $stage
