-- question: how did decoys fare in each stratum, and may their q-values be believed?
-- inputs:   decoy_strata
-- grain:    one row per stratum
-- parameters: none
-- order:    stratum
-- empty:    no decoy could be made: no text came too late to be a source
SELECT
    stratum, family, score, targets, decoys, exposure, null_near, null_far, rate_ratio, p_value, low_targets,
    low_decoys, low_p_value, accepted, false_share_bound, expected_false, valid, reason
FROM decoy_strata
ORDER BY stratum
