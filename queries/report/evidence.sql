-- question: which files were read, and how far?
-- inputs:   evidence
-- grain:    one row per evidence file
-- parameters: none
-- order:    evidence
-- Without the files' names: a name may hold a customer's, and this goes into a file that leaves the house.
SELECT
    evidence,
    format,
    bytes,
    sha256,
    records,
    rejected,
    complete
FROM evidence
ORDER BY evidence
