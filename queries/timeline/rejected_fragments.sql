-- question: which fragments did a person reject?
-- inputs:   rejected_fragments
-- grain:    one row per fragment
-- parameters: none
-- order:    fragment_id
SELECT fragment_id
FROM rejected_fragments
ORDER BY fragment_id
