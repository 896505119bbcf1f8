-- question: which public texts were given to the case?
-- inputs:   reference_sets
-- grain:    one row per reference
-- parameters: none
-- order:    name
SELECT name, sha256, bytes, texts, code_points, rejected, grams, tokens
FROM reference_sets
ORDER BY name
