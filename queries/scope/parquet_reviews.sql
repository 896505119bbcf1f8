-- question: which rows of `reviews` go to out/reviews.parquet?
-- inputs:   reviews
-- grain:    as the table
-- parameters: none
-- order:    fragment_id, at, name, decision
SELECT * EXCLUDE (reason)
FROM reviews
ORDER BY fragment_id, "at", name, decision
