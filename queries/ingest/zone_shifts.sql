-- question: (effect) which files have times without a zone or a year that joined calls fix?
-- inputs:   evidence, records, clock_differences
-- grain:    one row per file
-- parameters: least (joined calls that are needed)
-- order:    none
-- A file whose times name no zone, against files whose times do. The files of one worker share a clock and are judged
-- together. No quarter at all confirms that they are in UTC. It must be 95 of 100 calls that lie within two minutes of one multiple of a quarter of an hour; where that
-- fails, or less than `least` calls speak, `certain` is false and nothing is changed.
CREATE OR REPLACE TEMP TABLE zone_shifts AS
WITH doubtful AS (
    SELECT evidence, time_zone_basis = 'assumed' AS zone_open, coalesce(year_basis = 'file_time', FALSE) AS year_open
    FROM evidence
    WHERE time_zone_basis = 'assumed' OR year_basis = 'file_time'
),
sources AS (
    SELECT r.evidence,
        CASE WHEN count(DISTINCT r.worker) = 1 AND count(*) = count(r.worker) THEN 'worker ' || min(r.worker)
            ELSE 'file ' || r.evidence
        END AS source
    FROM records r
    WHERE r.evidence IN (SELECT evidence FROM doubtful)
    GROUP BY r.evidence
),
named AS (SELECT d.*, s.source FROM doubtful d JOIN sources s ON s.evidence = d.evidence),
ahead AS (
    SELECT n.source, n.zone_open, n.year_open, x.middle AS ahead
    FROM clock_differences x
    JOIN named n ON n.evidence = x.far_evidence
    WHERE x.near_evidence NOT IN (SELECT evidence FROM doubtful)
    UNION ALL
    SELECT n.source, n.zone_open, n.year_open, -x.middle
    FROM clock_differences x
    JOIN named n ON n.evidence = x.near_evidence
    WHERE x.far_evidence NOT IN (SELECT evidence FROM doubtful)
),
middles AS (
    SELECT source, median(ahead) AS ahead, count(*) AS n, bool_and(zone_open) AS zone_open, bool_and(year_open) AS year_open
    FROM ahead
    GROUP BY source
),
whole AS (
    SELECT *,
        CAST(CASE WHEN year_open THEN round(ahead / (365.25 * 86_400e6)) ELSE 0 END AS INTEGER) AS years,
        CAST(CASE WHEN zone_open THEN round(ahead / 900e6) ELSE 0 END AS BIGINT) AS quarters
    FROM middles
),
fits AS (
    SELECT w.source, w.n, w.years, w.quarters,
        -- A year first, and the zone in the round after.
        CASE
            WHEN w.years <> 0 THEN
                count(*) FILTER (WHERE abs(abs(a.ahead) - abs(w.years) * 365.25 * 86_400e6) <= 1.75 * 86_400e6)
            ELSE count(*) FILTER (WHERE abs(a.ahead - w.quarters * 900e6) <= 120e6)
        END AS fitting
    FROM whole w
    JOIN ahead a ON a.source = w.source
    WHERE w.years <> 0 OR w.zone_open AND w.quarters BETWEEN -56 AND 56
    GROUP BY w.source, w.n, w.years, w.quarters
)
SELECT n.evidence, f.years, CASE WHEN f.years = 0 THEN f.quarters ELSE 0 END AS quarters, f.n,
    f.n >= $least AND f.fitting >= 0.95 * f.n AS certain
FROM fits f
JOIN named n ON n.source = f.source
