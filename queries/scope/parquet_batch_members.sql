-- question: which rows of `batch_members` go to out/batch_members.parquet?
-- inputs:   batch_members
-- grain:    as the table
-- parameters: none
-- order:    batch, request
SELECT *
FROM batch_members
ORDER BY batch, request
