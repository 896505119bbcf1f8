-- question: (effect) which trials of a plan are judged anew?
-- inputs:   trials
-- grain:    deletes one row per trial of the plan
-- parameters: plan
-- order:    none (DELETE)
DELETE FROM trials
WHERE plan_id = $plan
