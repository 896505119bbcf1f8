-- question: which facts of the timeline tie one fragment to its candidate sources?
-- inputs:   appearance_relations
-- grain:    one row per appearance x relation
-- parameters: fragment
-- order:    rank, relation
SELECT rank, relation, value, basis
FROM appearance_relations
WHERE fragment_id = $fragment
ORDER BY rank, relation, value
