-- question: which rows of `decoy_strata` go to out/decoy_strata.parquet?
-- inputs:   decoy_strata
-- grain:    as the table
-- parameters: none
-- order:    stratum
SELECT *
FROM decoy_strata
ORDER BY stratum
