-- question: which rows of `appearances` go to out/appearances.parquet?
-- inputs:   appearances
-- grain:    as the table
-- parameters: none
-- order:    fragment_id, rank, request, side, field, start
SELECT *
FROM appearances
ORDER BY fragment_id, rank, request, side, field, "start"
