-- question: (effect) forget the scoring of a fragment
-- inputs:   likelihoods
-- grain:    none
-- parameters: fragment
-- order:    none
DELETE FROM likelihoods
WHERE fragment_id = $fragment
