-- question: (effect) how many records of each file repeat an earlier record?
-- inputs:   records, record_groups
-- grain:    one row per file
-- parameters: none
-- order:    none
UPDATE evidence
SET repeated = counted.repeated
FROM (
    SELECT e.evidence, count(r.record) AS repeated
    FROM evidence e
    LEFT JOIN (
        SELECT evidence, record
        FROM records
        WHERE record NOT IN (SELECT record FROM record_groups)
    ) r ON r.evidence = e.evidence
    GROUP BY e.evidence
) AS counted
WHERE evidence.evidence = counted.evidence
