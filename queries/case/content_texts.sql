-- question: what are the texts of the case?
-- inputs:   contents
-- grain:    one row per content
-- parameters: none
-- order:    content
SELECT content, text
FROM contents
ORDER BY content
