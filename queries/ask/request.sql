-- question: what is known of one request, and from which places in the evidence?
-- inputs:   joined_requests, requests, evidence
-- grain:    one row per vantage of the request
-- parameters: request
-- order:    vantage, evidence, byte_offset
-- empty:    there is no request with that id in this case
SELECT
    joined_requests.request_id,
    requests.vantage,
    joined_requests.tenant_id,
    joined_requests.tenant_basis,
    requests.model,
    requests.worker,
    requests.received_at,
    requests.finished_at,
    requests.status,
    requests.finish_reason,
    requests.prompt_tokens,
    requests.completion_tokens,
    requests.cached_tokens,
    requests.prompt_state,
    requests.response_state,
    joined_requests.examinable,
    joined_requests.examinable_reason,
    evidence.name AS evidence_name,
    requests.line,
    requests.byte_offset
FROM joined_requests
JOIN requests USING (request)
JOIN evidence ON evidence.evidence = requests.evidence
WHERE joined_requests.request_id = $request
ORDER BY requests.vantage, requests.evidence, requests.byte_offset
