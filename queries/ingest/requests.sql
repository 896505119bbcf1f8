-- question: (effect) the table of calls as each vantage saw them
-- inputs:   request_rows, request_roots, record_groups, record_ids
-- grain:    one row per call x vantage
-- parameters: none
-- order:    key
INSERT INTO requests BY NAME
WITH id_rows AS (
    SELECT g.call, i.kind, min(i.id) AS id
    FROM record_ids i
    JOIN record_groups g ON g.record = i.record
    JOIN request_rows q ON q.call = g.call
    WHERE NOT (i.kind = 'response_id' AND i.id = q.request_id)
    GROUP BY g.call, i.kind
),
id_objects AS (
    SELECT call, '{' || string_agg(to_json(kind)::VARCHAR || ':' || to_json(id)::VARCHAR, ',' ORDER BY kind) || '}' AS ids
    FROM id_rows
    GROUP BY call
)
SELECT
    q.key, t.request, q.evidence, q.byte_offset, q.byte_length, q.line, q.record_digest, q.request_id,
    coalesce(i.ids, '{}') AS ids,
    q.vantage, q.tenant_id, q.user_id, q.endpoint, q.model, q.worker, q.received_at, q.first_token_at, q.finished_at,
    q.time_precision, q.status, q.finish_reason, q.prompt_tokens, q.completion_tokens, q.cached_tokens, q.stream,
    q.prompt_state, q.response_state
FROM request_rows q
JOIN request_roots t ON t.key = q.key
LEFT JOIN id_objects i ON i.call = q.call
ORDER BY q.key
