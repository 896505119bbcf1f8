-- question: (effect) the table of how far clocks are apart
-- inputs:   clock_estimates
-- grain:    one row per pair of files, and one per pair of vantages (without files)
-- parameters: none
-- order:    near_vantage, far_vantage, near_evidence, far_evidence
INSERT INTO clock_offsets BY NAME
SELECT near_vantage, far_vantage, near_evidence, far_evidence, offset_us, low_us, high_us, residual_us, n,
    CASE WHEN by_ids = n THEN 'ids' WHEN by_ids = 0 THEN 'texts' ELSE 'ids and texts' END || ': '
        || CASE WHEN intervals = n THEN 'starts and ends' WHEN intervals = 0 THEN 'starts or ends' ELSE 'mixed' END
        AS basis
FROM clock_estimates
ORDER BY near_vantage, far_vantage, near_evidence NULLS FIRST, far_evidence
