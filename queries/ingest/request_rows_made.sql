-- question: (effect) an empty table of what each vantage says of each call (`request_rows` fills it)
-- inputs:   none
-- grain:    none
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE request_rows (
    key BIGINT,
    call BIGINT,
    evidence INTEGER,
    byte_offset BIGINT,
    byte_length BIGINT,
    line BIGINT,
    record_digest VARCHAR,
    request_id VARCHAR,
    vantage VARCHAR,
    tenant_id VARCHAR,
    user_id VARCHAR,
    endpoint VARCHAR,
    model VARCHAR,
    worker VARCHAR,
    received_at TIMESTAMP,
    first_token_at TIMESTAMP,
    finished_at TIMESTAMP,
    time_precision VARCHAR,
    status VARCHAR,
    finish_reason VARCHAR,
    prompt_tokens BIGINT,
    completion_tokens BIGINT,
    cached_tokens BIGINT,
    stream BOOLEAN,
    prompt_state VARCHAR,
    response_state VARCHAR
)
