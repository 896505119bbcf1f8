-- question: may the decoys be believed, stratum by stratum?
-- inputs:   decoy_strata
-- grain:    one row per stratum
-- parameters: none
-- order:    stratum
SELECT stratum, targets, decoys, exposure, valid, reason
FROM decoy_strata
ORDER BY stratum
