-- question: (effect) which facts of a plan are written anew?
-- inputs:   replays
-- grain:    deletes one row
-- parameters: plan
-- order:    none (DELETE)
DELETE FROM replays
WHERE plan_id = $plan
