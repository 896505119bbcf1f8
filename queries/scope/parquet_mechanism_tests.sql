-- question: which rows of `mechanism_tests` go to out/mechanism_tests.parquet?
-- inputs:   mechanism_tests
-- grain:    as the table
-- parameters: none
-- order:    hypothesis
SELECT *
FROM mechanism_tests
ORDER BY hypothesis
