-- question: which requests does a fragment come from, and from where in them?
-- inputs:   appearances
-- grain:    one row per appearance of the fragment whose tenant is named as a source
-- parameters: fragment
-- order:    rank
SELECT request, field, "start", "end"
FROM appearances
WHERE fragment_id = $fragment AND named
ORDER BY rank, request
