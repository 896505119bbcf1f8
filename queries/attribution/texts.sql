-- question: what are all the texts?
-- inputs:   contents
-- grain:    one row per distinct text
-- parameters: none
-- order:    as stored, which is the order of the keys (ingest appends them so; the reader checks); a sort would hold
--           every text in memory at once
SELECT
    content,
    text
FROM contents
