-- question: (effect) an empty table of what each vantage says of each call (`request_rows` fills it)
-- inputs:   requests
-- grain:    none
-- parameters: none
-- order:    none
-- The columns of `requests`, in the types that it gives them, before their ids are joined; `call` names the request there.
CREATE OR REPLACE TEMP TABLE request_rows AS
SELECT
    key, request AS call, evidence, byte_offset, byte_length, line, record_digest,
    request_id, vantage, tenant_id, user_id, endpoint, model, worker,
    received_at, first_token_at, finished_at, time_precision, status, finish_reason,
    prompt_tokens, completion_tokens, cached_tokens, stream, prompt_state, response_state
FROM requests
WHERE false
