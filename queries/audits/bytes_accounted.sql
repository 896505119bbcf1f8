-- question: (audit) in which evidence files is a byte unaccounted for?
-- inputs:   evidence
-- grain:    one row per bad evidence file
-- parameters: none
-- order:    subject, problem
SELECT
    'evidence ' || evidence AS subject,
    'records, rejects, blank lines and structure make ' || (record_bytes + rejected_bytes + blank_bytes + structure_bytes)
        || ' of ' || content_bytes || ' bytes' AS problem
FROM evidence
WHERE record_bytes + rejected_bytes + blank_bytes + structure_bytes <> content_bytes
ORDER BY subject, problem
