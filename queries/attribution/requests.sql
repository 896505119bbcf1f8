-- question: who asked, who may share text with whom, when and where was each request served?
-- inputs:   joined_requests
-- grain:    one row per request
-- parameters: none
-- order:    request
SELECT
    request,
    request_id,
    tenant_id,
    isolation_unit,
    worker,
    epoch_us(received_at) AS received_us,
    epoch_us(finished_at) AS finished_us,
    prompt_state,
    response_state,
    examinable
FROM joined_requests
ORDER BY request
