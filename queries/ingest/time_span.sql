-- question: (effect) when was the first and the last record of each file?
-- inputs:   records
-- grain:    one row per file
-- parameters: none
-- order:    none
UPDATE evidence
SET first_at = span.first_at, last_at = span.last_at
FROM (
    SELECT
        evidence,
        least(min(received_at), min(finished_at)) AS first_at,
        greatest(max(received_at), max(finished_at)) AS last_at
    FROM records
    GROUP BY evidence
) AS span
WHERE evidence.evidence = span.evidence
