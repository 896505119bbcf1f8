-- question: what have people decided, and does the fragment they decided on still exist?
-- inputs:   reviews, fragments
-- grain:    one row per decision
-- parameters: none
-- order:    at, fragment_id, name
-- empty:    nobody has decided on a fragment yet: `forensics review CASE`
SELECT
    reviews."at",
    reviews.name,
    reviews.fragment_id,
    reviews.decision,
    reviews.reason,
    fragments.fragment_id IS NOT NULL AS found
FROM reviews
LEFT JOIN fragments USING (fragment_id)
ORDER BY reviews."at", reviews.fragment_id, reviews.name, reviews.decision
