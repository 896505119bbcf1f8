-- question: (effect) which verdicts of a plan are judged anew?
-- inputs:   replay_verdicts
-- grain:    deletes one row per leak of the plan
-- parameters: plan
-- order:    none (DELETE)
DELETE FROM replay_verdicts
WHERE plan_id = $plan
