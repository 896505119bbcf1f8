-- question: which properties do affected responses share?
-- inputs:   leak_factors
-- grain:    one row per property; value of workers apart, since it is a name
-- parameters: alpha (corrected p-value up to which a property is printed)
-- order:    corrected p-value, p-value, factor, value
SELECT factor, value, affected, affected_of, unaffected, unaffected_of, odds_ratio, low, high, p_holm, finding
FROM leak_factors
WHERE p_holm <= $alpha
ORDER BY p_holm, p_value, factor, value
