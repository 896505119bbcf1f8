-- question: which files were read already?
-- inputs:   evidence
-- grain:    one row per file
-- parameters: none
-- order:    evidence
SELECT evidence, sha256, name, container_sha256
FROM evidence
ORDER BY evidence
