-- question: how many pages of pairs of texts are to be searched?
-- inputs:   prompt_places
-- grain:    one row
-- parameters: none
-- order:    none
SELECT CAST(coalesce(max(page) + 1, 0) AS BIGINT)
FROM prompt_places
