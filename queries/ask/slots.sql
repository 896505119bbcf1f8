-- question: on which engine schedulers are slots known, how, for how many stays, and why not for the rest?
-- inputs:   slot_derivations
-- grain:    one row per scheduler and way in which its slots were had
-- parameters: none
-- order:    worker, basis, reason
-- empty:    no engine scheduler is known: these logs hold no engine events and no workers
-- A derived slot is checked against the scheduler's own counts of running requests, and never called logged.
SELECT
    worker, basis, stays, given, given / nullif(stays, 0) AS share, policy, version, first_slot, slots, checks, agreed,
    reason
FROM slot_derivations
ORDER BY worker, basis, reason, stays
