-- question: which evidence files were read, with which digests?
-- inputs:   evidence
-- grain:    one row per evidence file
-- parameters: none
-- order:    evidence
SELECT name, sha256, bytes
FROM evidence
ORDER BY evidence
