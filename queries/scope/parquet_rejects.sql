-- question: which rows of `rejects` go to out/rejects.parquet?
-- inputs:   rejects
-- grain:    as the table
-- parameters: none
-- order:    evidence, byte_offset
SELECT *
FROM rejects
ORDER BY evidence, byte_offset
