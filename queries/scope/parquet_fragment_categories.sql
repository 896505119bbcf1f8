-- question: which rows of `fragment_categories` go to out/fragment_categories.parquet?
-- inputs:   fragment_categories
-- grain:    as the table
-- parameters: none
-- order:    fragment_id, category, start, end, detector
SELECT *
FROM fragment_categories
ORDER BY fragment_id, category, "start", "end", detector
