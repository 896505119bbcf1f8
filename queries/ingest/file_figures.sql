-- question: what came of each file?
-- inputs:   evidence, records, record_groups, request_rows, requests
-- grain:    one row per file
-- parameters: none
-- order:    evidence
SELECT
    e.evidence, e.name, e.sha256, e.format, e.format_reason, e.records,
    coalesce(q.requests, 0) AS requests,
    e.repeated, e.rejected, e.blank, e.structure, e.bytes, e.content_bytes, e.complete, e.compression, e.container_sha256
FROM evidence e
LEFT JOIN (
    SELECT r.evidence, count(DISTINCT q.request) AS requests
    FROM records r
    JOIN record_groups g ON g.record = r.record
    JOIN request_rows w ON w.call = g.call
    JOIN requests q ON q.key = w.key
    GROUP BY r.evidence
) q ON q.evidence = e.evidence
ORDER BY e.evidence
