-- question: who used these texts, on which side, when, and where does the evidence say so?
-- inputs:   request_contents, joined_requests, requests, evidence
-- grain:    one row per use of a text at a vantage
-- parameters: contents
-- order:    received_at, request_id, vantage, side, field
SELECT
    request_contents.content,
    joined_requests.request,
    joined_requests.request_id,
    joined_requests.tenant_id,
    joined_requests.worker,
    joined_requests.received_at,
    joined_requests.finished_at,
    requests.vantage,
    request_contents.side,
    request_contents.field,
    evidence.name AS evidence_name,
    evidence.sha256 AS evidence_sha256,
    requests.line,
    requests.byte_offset
FROM request_contents
JOIN joined_requests USING (request)
JOIN requests ON requests.key = request_contents.key
JOIN evidence ON evidence.evidence = requests.evidence
WHERE list_contains($contents, request_contents.content)
ORDER BY
    joined_requests.received_at NULLS LAST,
    joined_requests.request_id,
    requests.vantage,
    request_contents.side,
    request_contents.field,
    requests.key
