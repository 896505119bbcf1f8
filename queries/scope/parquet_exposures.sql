-- question: which rows of `exposures` go to out/exposures.parquet?
-- inputs:   exposures
-- grain:    as the table
-- parameters: none
-- order:    request, relation, shared, predicate
SELECT *
FROM exposures
ORDER BY request, relation, shared, predicate
