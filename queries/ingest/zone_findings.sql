-- question: which files have times without a zone or a year that joined calls fix?
-- inputs:   zone_shifts
-- grain:    one row per file
-- parameters: none
-- order:    evidence
SELECT evidence, years, quarters, n, certain
FROM zone_shifts
WHERE years <> 0 OR quarters <> 0
ORDER BY evidence
