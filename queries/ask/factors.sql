-- question: what do affected responses have in common that unaffected ones have not?
-- inputs:   leak_factors
-- grain:    one row per property and value
-- parameters: none
-- order:    corrected p-value, p-value, factor, value
-- empty:    there are no affected responses to compare with unaffected ones
SELECT
    factor,
    value,
    affected,
    affected_of,
    unaffected,
    unaffected_of,
    odds_ratio,
    low,
    high,
    p_value,
    p_holm,
    finding
FROM leak_factors
ORDER BY p_holm, p_value, factor, value
