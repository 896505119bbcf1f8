-- question: (effect) forget the fingerprints of a set of public texts
-- inputs:   reference_fingerprints
-- grain:    none
-- parameters: name
-- order:    none
DELETE FROM reference_fingerprints
WHERE name = $name
