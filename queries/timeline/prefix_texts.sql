-- question: what are these texts?
-- inputs:   contents
-- grain:    one row per text
-- parameters: contents (list of content keys)
-- order:    as stored; the reader looks them up by key, and a sort would copy every text
SELECT
    content,
    text
FROM contents
WHERE content IN (SELECT unnest($contents))
