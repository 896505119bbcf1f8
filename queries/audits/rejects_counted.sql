-- question: (audit) in which evidence files does the count of rejects differ from their rows?
-- inputs:   evidence, rejects
-- grain:    one row per bad evidence file
-- parameters: none
-- order:    subject, problem
WITH listed AS (
    SELECT evidence, count(*) AS rejects
    FROM rejects
    GROUP BY evidence
)
SELECT
    'evidence ' || coalesce(evidence.evidence, listed.evidence) AS subject,
    coalesce(evidence.rejected, 0) || ' counted, ' || coalesce(listed.rejects, 0) || ' listed' AS problem
FROM evidence
FULL JOIN listed USING (evidence)
WHERE coalesce(evidence.rejected, 0) <> coalesce(listed.rejects, 0)
ORDER BY subject, problem
