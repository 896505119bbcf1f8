-- question: how did decoys fare in one stratum, by time and by worker, and may their q-values be believed?
-- inputs:   decoy_strata
-- grain:    one row per stratum
-- parameters: stratum
-- order:    stratum
SELECT stratum, family, targets, decoys, exposure, null_near, null_far, rate_ratio, p_value, valid, reason
FROM decoy_strata
WHERE stratum = $stratum OR stratum = $stratum || ', by worker'
ORDER BY stratum
