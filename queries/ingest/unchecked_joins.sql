-- question: how many calls are joined by the id of the answer alone, with no prompt to check it by?
-- inputs:   request_joins
-- grain:    one row
-- parameters: none
-- order:    none
SELECT count(DISTINCT request)
FROM request_joins
WHERE ends_with(basis, '_no_prompt')
