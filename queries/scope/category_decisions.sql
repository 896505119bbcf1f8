-- question: what did people last decide about labels of fragments?
-- inputs:   category_reviews
-- grain:    one row per fragment and category
-- parameters: none
-- order:    fragment_id, category
SELECT fragment_id, category, decision
FROM category_reviews
QUALIFY row_number() OVER (PARTITION BY fragment_id, category ORDER BY "at" DESC, name DESC, decision DESC) = 1
ORDER BY fragment_id, category
