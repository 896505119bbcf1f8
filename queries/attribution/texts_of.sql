-- question: what are the texts with these keys?
-- inputs:   contents
-- grain:    one row per asked key that exists
-- parameters: keys (list of content keys)
-- order:    content
SELECT
    content,
    text
FROM contents
WHERE content IN (SELECT unnest($keys))
ORDER BY content
