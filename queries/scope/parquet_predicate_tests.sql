-- question: which rows of `predicate_tests` go to out/predicate_tests.parquet?
-- inputs:   predicate_tests
-- grain:    as the table
-- parameters: none
-- order:    level, predicate
SELECT *
FROM predicate_tests
ORDER BY level, predicate
