-- question: how many fragments had a decision that no longer counts, and of how many is the fragment gone?
-- inputs:   reviews, standing_reviews, fragments
-- grain:    one row
-- parameters: none
-- order:    none
WITH decided AS (
    SELECT DISTINCT fragment_id
    FROM reviews
)
SELECT
    count(*) FILTER (WHERE f.fragment_id IS NOT NULL AND s.fragment_id IS NULL) AS of_other_sources,
    count(*) FILTER (WHERE f.fragment_id IS NULL) AS gone
FROM decided AS d
LEFT JOIN fragments AS f ON f.fragment_id = d.fragment_id
LEFT JOIN standing_reviews AS s ON s.fragment_id = d.fragment_id
