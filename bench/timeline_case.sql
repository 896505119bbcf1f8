-- question: (effect) a case of many requests and engine events, as ingest would have left it
-- inputs:   none
-- grain:    one row per request; one engine event per request and forward pass (source `schedule`) or per forward pass
--           (source `probe`), per line of times, and per row given and freed (source `probe`)
-- parameters: requests, passes, workers, source (schedule | probe), leaks
-- order:    none
-- Each worker takes a request in every third pass; a request has a row in `passes` passes. A pass takes 20 ms. `leaks`
-- responses, evenly spread over the middle half of the time, carry text of the request that left the engine just before they
-- were taken in. The statements are separated by lines of dashes, and run one after the other.
INSERT INTO joined_requests BY NAME
SELECT
    i AS request,
    'call-' || i AS request_id,
    't' || (i % 97) AS tenant_id,
    'record' AS tenant_basis,
    't' || (i % 97) AS isolation_unit,
    'w' || (i % $workers) AS worker,
    TIMESTAMP '2026-03-04 00:00:00' + to_microseconds((i // $workers) * 60000) AS received_at,
    TIMESTAMP '2026-03-04 00:00:00' + to_microseconds((i // $workers) * 60000 + 40000) AS first_token_at,
    TIMESTAMP '2026-03-04 00:00:00' + to_microseconds((i // $workers) * 60000 + $passes * 20000 + 30000) AS finished_at,
    'ok' AS status,
    'stop' AS finish_reason,
    1000 AS prompt_tokens,
    $passes AS completion_tokens,
    0 AS cached_tokens,
    'full' AS prompt_state,
    'full' AS response_state,
    'engine' AS vantages,
    TRUE AS examinable,
    'full' AS examinable_reason
FROM range($requests) AS r (i)
--------
INSERT INTO requests BY NAME
SELECT
    request AS key, request, 0 AS evidence, request AS byte_offset, 1 AS byte_length, request AS line,
    '' AS record_digest, request_id, '{}' AS ids, 'engine' AS vantage, tenant_id, worker, received_at, first_token_at,
    finished_at, 'us' AS time_precision, status, finish_reason, prompt_tokens, completion_tokens, cached_tokens,
    prompt_state, response_state
FROM joined_requests
--------
INSERT INTO engine_events BY NAME
SELECT
    1 AS evidence,
    i * 1000 + k AS byte_offset,
    TIMESTAMP '2026-03-04 00:00:00' + to_microseconds((i // $workers) * 60000 + k * 20000 + 10000) AS "at",
    'cluster' AS worker,
    'schedule' AS kind,
    'call-' || i AS request_id,
    'host:' || (4000 + i % $workers) || ':' || printf('%08x', (i // $workers) * 3 + k) AS batch,
    '{"batch_size":' || $passes // 3 || '}' AS counts,
    '{"dp_rank":' || (i % $workers) || ',"forward_mode":"' || CASE k WHEN 0 THEN 'prefill' ELSE 'decode' END
    || '","pid":' || (4000 + i % $workers) || ',"tp_rank":0}' AS attributes
FROM range($requests) AS r (i)
CROSS JOIN range($passes) AS p (k)
WHERE $source = 'schedule'
--------
INSERT INTO engine_events BY NAME
WITH memberships AS (
    SELECT i % $workers AS w, (i // $workers) * 3 + k AS iteration, 'call-' || i AS rid, 1 + (i // $workers) % ($passes // 3) AS slot
    FROM range($requests) AS r (i)
    CROSS JOIN range($passes) AS p (k)
    WHERE $source = 'probe'
)
SELECT
    1 AS evidence,
    iteration AS byte_offset,
    TIMESTAMP '2026-03-04 00:00:00' + to_microseconds(iteration * 20000 + 10000) AS "at",
    'h' || w || ' DP0' AS worker,
    'probe_batch_start' AS kind,
    'h' || w || ' DP0:7:0:0:' || iteration AS batch,
    iteration,
    '{"size":' || count(*) || '}' AS counts,
    '{"dp_rank":0,"mode":"decode","pid":7,"pp_rank":0,"rid":["' || string_agg(rid, '","' ORDER BY rid) || '"],"slot":['
    || string_agg(slot, ',' ORDER BY rid) || '],"tp_rank":0}' AS attributes
FROM memberships
GROUP BY w, iteration
--------
INSERT INTO engine_events BY NAME
SELECT
    1 AS evidence,
    i AS byte_offset,
    TIMESTAMP '2026-03-04 00:00:00'
    + to_microseconds((i // $workers) * 60000 + CASE kind WHEN 'probe_slot_alloc' THEN 9000 ELSE $passes * 20000 + 8500 END) AS "at",
    'h' || (i % $workers) || ' DP0' AS worker,
    kind,
    'call-' || i AS request_id,
    (1 + (i // $workers) % ($passes // 3))::VARCHAR AS slot,
    '{"dp_rank":0,"pid":7,"pp_rank":0,"tp_rank":0}' AS attributes
FROM range($requests) AS r (i)
CROSS JOIN (VALUES ('probe_slot_alloc'), ('probe_slot_free')) AS k (kind)
WHERE $source = 'probe'
--------
INSERT INTO engine_events BY NAME
SELECT
    2 + i % $workers AS evidence,
    i + 1 AS byte_offset,
    TIMESTAMP '2026-03-04 00:00:00' + to_microseconds((i // $workers) * 60000 + $passes * 20000 + 9000) AS "at",
    'w' || (i % $workers) AS worker,
    'request_time_stats' AS kind,
    'call-' || i AS request_id,
    '{"cached_input_len":0,"entry_at_us":' || epoch_us(TIMESTAMP '2026-03-04 00:00:00') + (i // $workers) * 60000
    || ',"forward_duration_ms":' || ($passes * 20.0 - 1.0) || ',"input_len":1000,"output_len":' || $passes
    || ',"queue_duration_ms":9.0}' AS counts,
    '{"type":"unified"}' AS attributes
FROM range($requests) AS r (i)
--------
INSERT INTO engine_events BY NAME
SELECT
    2 + w AS evidence,
    0 AS byte_offset,
    TIMESTAMP '2026-03-03 23:59:00' AS "at",
    'w' || w AS worker,
    kind,
    counts,
    attributes
FROM range($workers) AS r (w)
CROSS JOIN (
    VALUES
    ('scheduler_start', '{"max_running_requests":64}', NULL),
    ('engine_release', NULL, '{"at_least":"0.5.18"}')
) AS k (kind, counts, attributes)
--------
INSERT INTO fragments BY NAME
WITH victims AS (
    SELECT n, ($requests // 4 + n * ($requests // (2 * $leaks)))::BIGINT AS request
    FROM range($leaks) AS r (n)
)
SELECT
    'f' || printf('%06d', n) AS fragment_id,
    request,
    'call-' || request AS recipient_request_id,
    't' || (request % 97) AS recipient_tenant_id,
    'engine' AS vantage,
    'choices[0].content' AS field,
    0 AS "start",
    200 AS "end",
    'verbatim' AS kind,
    400.0 AS bits,
    360.0 AS net_bits,
    'verbatim' AS stratum,
    'probable' AS machine_verdict,
    'put in by the benchmark' AS verdict_reason,
    ['t' || ((request - $workers * ($passes // 3)) % 97)] AS sources,
    0 AS content,
    '{}' AS features,
    []::VARCHAR[] AS exclusions_tried
FROM victims
--------
INSERT INTO appearances BY NAME
SELECT
    fragment_id,
    1 AS rank,
    request - $workers * ($passes // 3) AS request,
    'call-' || (request - $workers * ($passes // 3)) AS source_request_id,
    sources[1] AS source_tenant_id,
    'prompt' AS side,
    'messages[0].content' AS field,
    0 AS "start",
    200 AS "end",
    1.0 AS similarity,
    1.0 AS raw_identity,
    TRUE AS named,
    0 AS lag_us,
    TRUE AS same_worker,
    FALSE AS overlapped,
    0 AS content
FROM fragments
