-- question: how far apart are the clocks of the files and of the vantages, and how sure is that?
-- inputs:   clock_offsets, evidence
-- grain:    one row per pair of files with joined calls, and one per pair of vantages (no files named)
-- parameters: none
-- order:    near_vantage, far_vantage, near_evidence, far_evidence
-- empty:    no call was seen at two places, so that clocks cannot be compared
-- The offset is what the far clock shows more than the near one. It cannot lie outside low to high where the clocks keep
-- step, because a call lies inside itself as the vantage farther out saw it.
SELECT
    c.near_vantage, c.far_vantage, n.name AS near_name, f.name AS far_name,
    c.offset_us / 1e6 AS offset_seconds, c.low_us / 1e6 AS low_seconds, c.high_us / 1e6 AS high_seconds,
    c.residual_us / 1e6 AS residual_seconds, c.n, c.low_us <= c.high_us AS keeps_step, c.basis,
    n.time_zone AS near_time_zone, n.time_zone_basis AS near_time_zone_basis,
    f.time_zone AS far_time_zone, f.time_zone_basis AS far_time_zone_basis
FROM clock_offsets c
LEFT JOIN evidence n ON n.evidence = c.near_evidence
LEFT JOIN evidence f ON f.evidence = c.far_evidence
ORDER BY c.near_vantage, c.far_vantage, c.near_evidence NULLS FIRST, c.far_evidence
