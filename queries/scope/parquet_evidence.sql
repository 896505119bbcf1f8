-- question: which rows of `evidence` go to out/evidence.parquet?
-- inputs:   evidence
-- grain:    as the table
-- parameters: none
-- order:    evidence
SELECT *
FROM evidence
ORDER BY evidence
