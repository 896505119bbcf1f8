-- question: which fingerprints do the given public texts have?
-- inputs:   reference_fingerprints
-- grain:    one row per fingerprint of a reference; repeats are possible
-- parameters: none
-- order:    as stored; the reader makes sets of them
SELECT name, kind, hash
FROM reference_fingerprints
