-- question: which texts does the case hold already?
-- inputs:   contents
-- grain:    one row per distinct text
-- parameters: none
-- order:    content
SELECT digest, content
FROM contents
ORDER BY content
