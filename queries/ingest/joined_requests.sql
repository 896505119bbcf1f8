-- question: (effect) one row per call, its vantages put together
-- inputs:   requests, request_tenants
-- grain:    one row per joined call
-- parameters: isolate_by (tenant | user), states (list of states, best first)
-- order:    request
-- Times come from one vantage where one has both ends, so that no clock is mixed with another; the worker and the
-- token counts come from the engine first, because it did the work.
INSERT INTO joined_requests BY NAME
WITH placed AS (
    SELECT *,
        list_position(['gateway', 'engine', 'client'], vantage) AS place,
        list_position(['engine', 'gateway', 'client'], vantage) AS engine_place
    FROM requests
),
merged AS (
    SELECT
        request,
        arg_min(request_id, place) AS request_id,
        arg_min(user_id, place) AS user_id,
        arg_min(endpoint, place) AS endpoint,
        arg_min(model, place) AS model,
        arg_min(worker, engine_place) AS worker,
        arg_min(received_at, place) FILTER (WHERE finished_at IS NOT NULL) AS both_received,
        arg_min(finished_at, place) FILTER (WHERE received_at IS NOT NULL) AS both_finished,
        arg_min(first_token_at, place) FILTER (WHERE received_at IS NOT NULL AND finished_at IS NOT NULL) AS both_first,
        arg_min(received_at, place) AS any_received,
        arg_min(finished_at, place) AS any_finished,
        arg_min(first_token_at, place) AS any_first,
        bool_or(status = 'aborted') AS aborted,
        arg_min(status, place) AS status,
        arg_min(finish_reason, place) AS finish_reason,
        arg_min(prompt_tokens, engine_place) AS prompt_tokens,
        arg_min(completion_tokens, engine_place) AS completion_tokens,
        arg_min(cached_tokens, engine_place) AS cached_tokens,
        bool_or(stream) AS stream,
        $states[min(list_position($states, prompt_state))] AS prompt_state,
        $states[min(list_position($states, response_state))] AS response_state,
        string_agg(vantage, ',' ORDER BY vantage) AS vantages
    FROM placed
    GROUP BY request
)
SELECT
    m.request, m.request_id, t.tenant_id, t.basis AS tenant_basis,
    CASE
        WHEN t.tenant_id IS NULL THEN NULL
        WHEN $isolate_by = 'user' AND m.user_id IS NOT NULL THEN replace(t.organisation, '/', '%2F') || '/' || m.user_id
        ELSE t.organisation
    END AS isolation_unit,
    m.user_id, m.endpoint, m.model, m.worker,
    coalesce(m.both_received, m.any_received) AS received_at,
    coalesce(m.both_first, m.any_first) AS first_token_at,
    coalesce(m.both_finished, m.any_finished) AS finished_at,
    CASE WHEN m.aborted THEN 'aborted' ELSE m.status END AS status,
    m.finish_reason, m.prompt_tokens, m.completion_tokens, m.cached_tokens, m.stream,
    m.prompt_state, m.response_state, m.vantages,
    t.tenant_id IS NOT NULL AND m.prompt_state = 'full' AND m.response_state = 'full' AS examinable,
    CASE
        WHEN t.tenant_id IS NOT NULL AND m.prompt_state = 'full' AND m.response_state = 'full' THEN 'full'
        ELSE concat_ws(
            '; ',
            CASE WHEN t.tenant_id IS NULL THEN 'tenant unknown' END,
            CASE WHEN m.prompt_state <> 'full' THEN 'prompt ' || m.prompt_state END,
            CASE WHEN m.response_state <> 'full' THEN 'response ' || m.response_state END
        )
    END AS examinable_reason
FROM merged m
JOIN request_tenants t ON t.request = m.request
ORDER BY m.request
