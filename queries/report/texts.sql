-- question: what are all the texts that no file for somebody else may hold?
-- inputs:   contents
-- grain:    one row per distinct text
-- parameters: none
-- order:    as stored; what is found is sorted by the reader, and a sort here would hold every text in memory at once
SELECT
    content,
    text
FROM contents
