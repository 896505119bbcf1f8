-- question: (effect) forget a set of public texts
-- inputs:   reference_sets
-- grain:    none
-- parameters: name
-- order:    none
DELETE FROM reference_sets
WHERE name = $name
