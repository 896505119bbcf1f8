-- question: what became of each evidence file?
-- inputs:   evidence, requests, rejects
-- grain:    one row per evidence file
-- parameters: none
-- order:    evidence
WITH requests_of AS (
    SELECT evidence, count(DISTINCT request) AS requests
    FROM requests
    GROUP BY evidence
),
reasons AS (
    SELECT evidence, reason, count(*) AS records
    FROM rejects
    GROUP BY evidence, reason
),
reasons_of AS (
    SELECT
        evidence,
        list(reason ORDER BY reason) AS reasons,
        list(records ORDER BY reason) AS reason_counts
    FROM reasons
    GROUP BY evidence
)
SELECT
    evidence.name,
    evidence.format,
    evidence.format_reason,
    evidence.compression,
    evidence.bytes,
    evidence.content_bytes,
    evidence.records,
    coalesce(requests_of.requests, 0) AS requests,
    evidence.repeated,
    evidence.rejected,
    evidence.blank,
    evidence.structure,
    evidence.record_bytes,
    evidence.rejected_bytes,
    evidence.blank_bytes,
    evidence.structure_bytes,
    evidence.complete,
    evidence.sha256,
    evidence.container_sha256,
    coalesce(reasons_of.reasons, []) AS reasons,
    coalesce(reasons_of.reason_counts, []) AS reason_counts
FROM evidence
LEFT JOIN requests_of USING (evidence)
LEFT JOIN reasons_of USING (evidence)
ORDER BY evidence.evidence
