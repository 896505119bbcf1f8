-- question: how many verdicts rest on a rejection that a reproduced trial contradicts, or on an acceptance that cannot lift them?
-- inputs:   verdicts, reviews
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    count(*) FILTER (WHERE basis = 'review: reject, against a reproduced trial') AS rejected_against_trial,
    count(*) FILTER (WHERE basis = 'machine; review: accept') AS accepted_too_weak
FROM verdicts
