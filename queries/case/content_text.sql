-- question: what is the text of one content?
-- inputs:   contents
-- grain:    one row
-- parameters: content
-- order:    none
SELECT text
FROM contents
WHERE content = $content
