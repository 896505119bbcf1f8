-- question: how did decoys fare in each stratum, and may their q-values be believed?
-- inputs:   decoy_strata
-- grain:    one row per stratum
-- parameters: none
-- order:    stratum
SELECT stratum, family, targets, decoys, exposure, null_near, null_far, rate_ratio, p_value, valid, reason
FROM decoy_strata
ORDER BY stratum
