-- question: (effect) which candidates of one tier are still open, and which of them are the only ones of both calls?
-- inputs:   join_candidates, join_links, join_refusals
-- grain:    one row per open candidate
-- parameters: tier (1 to 4)
-- order:    none
-- Where one call could join several, the better kind of id decides; where that leaves a tie, nothing is joined.
CREATE OR REPLACE TEMP TABLE join_round AS
WITH closed AS (
    SELECT near AS key, far_vantage AS other_vantage FROM join_links
    UNION
    SELECT far, near_vantage FROM join_links
    UNION
    SELECT key, other_vantage FROM join_refusals WHERE final
),
live AS (
    SELECT c.*
    FROM (FROM join_candidates WHERE tier = $tier) c
    ANTI JOIN closed n ON n.key = c.near AND n.other_vantage = c.far_vantage
    ANTI JOIN closed f ON f.key = c.far AND f.other_vantage = c.near_vantage
),
ranked AS (
    SELECT near, far, near_vantage, far_vantage,
        rank = min(rank) OVER (PARTITION BY near, far_vantage)
            AND rank = min(rank) OVER (PARTITION BY far, near_vantage) AS strongest
    FROM live
    WHERE refused IS NULL
),
firm AS (
    SELECT near, far
    FROM ranked
    WHERE strongest
    QUALIFY count(*) OVER (PARTITION BY near, far_vantage) = 1 AND count(*) OVER (PARTITION BY far, near_vantage) = 1
)
SELECT l.*, f.near IS NOT NULL AS firm
FROM live l
LEFT JOIN firm f ON f.near = l.near AND f.far = l.far
