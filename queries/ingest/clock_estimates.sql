-- question: (effect) how far are the clocks of two files, and of two vantages, apart?
-- inputs:   clock_differences
-- grain:    one row per pair of files, and one per pair of vantages (without files)
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE clock_estimates AS
SELECT near_vantage, far_vantage, near_evidence, far_evidence,
    CAST(round(median(middle)) AS BIGINT) AS offset_us,
    CAST(round(mad(middle)) AS BIGINT) AS residual_us,
    max(least) AS low_us,
    min(most) AS high_us,
    count(*) AS n,
    count(*) FILTER (WHERE two_ended) AS intervals,
    count(*) FILTER (WHERE told_by = 'ids') AS by_ids
FROM clock_differences
GROUP BY GROUPING SETS (
    (near_vantage, far_vantage, near_evidence, far_evidence),
    (near_vantage, far_vantage)
)
