-- question: which rows of `appearance_relations` go to out/appearance_relations.parquet?
-- inputs:   appearance_relations
-- grain:    as the table
-- parameters: none
-- order:    fragment_id, rank, relation, value
SELECT *
FROM appearance_relations
ORDER BY fragment_id, rank, relation, value
