-- question: which rows of `chunks` go to out/chunks.parquet?
-- inputs:   chunks
-- grain:    as the table
-- parameters: none
-- order:    key, choice, seq
SELECT *
FROM chunks
ORDER BY key, choice, seq
