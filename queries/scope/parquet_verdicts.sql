-- question: which rows of `verdicts` go to out/verdicts.parquet?
-- inputs:   verdicts
-- grain:    as the table
-- parameters: none
-- order:    fragment_id
SELECT *
FROM verdicts
ORDER BY fragment_id
