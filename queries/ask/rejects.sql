-- question: which records could not be read, where are they and why?
-- inputs:   rejects, evidence
-- grain:    one row per rejected record
-- parameters: none
-- order:    evidence, byte_offset
-- empty:    every record could be read
SELECT evidence.name AS evidence_name, rejects.line, rejects.byte_offset, rejects.length, rejects.reason, rejects.sha256
FROM rejects
JOIN evidence USING (evidence)
ORDER BY rejects.evidence, rejects.byte_offset
