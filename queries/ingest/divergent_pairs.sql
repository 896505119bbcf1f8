-- question: how many pairs of texts are to be compared?
-- inputs:   divergent_places
-- grain:    one row
-- parameters: none
-- order:    none
SELECT count(DISTINCT pair)
FROM divergent_places
