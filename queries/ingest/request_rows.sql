-- question: (effect) what does each vantage say of the calls of one slice?
-- inputs:   records, record_groups, request_rows
-- grain:    one row per call x vantage
-- parameters: states (list of states, best first), first and past (calls of the slice)
-- order:    none
-- In slices, in ascending order: the states of the aggregates do not go to disk.
-- What stands aside of the engine's own lines tells only what these leave out. Workers are split by data-parallel rank only
-- where one log shows several ranks.
INSERT INTO request_rows
WITH ranked_workers AS (
    SELECT coalesce(worker, '') AS worker
    FROM records
    WHERE dp_rank IS NOT NULL
    GROUP BY coalesce(worker, '')
    HAVING min(dp_rank) <> max(dp_rank)
),
merged AS (
    SELECT
        g.call,
        any_value(r.request_id) FILTER (WHERE r.record = g.call) AS request_id,
        any_value(r.vantage) AS vantage,
        arg_min(r.tenant_id, (g.aside, r.record)) AS tenant_id,
        arg_min(r.user_id, (g.aside, r.record)) AS user_id,
        arg_min(r.endpoint, (g.aside, r.record)) AS endpoint,
        arg_min(r.model, (g.aside, r.record)) AS model,
        arg_min(r.worker, (g.aside, r.record)) AS worker,
        arg_min(r.dp_rank, (g.aside, r.record)) AS dp_rank,
        coalesce(
            min(r.received_at) FILTER (WHERE r.part <> 'finished' AND NOT g.aside),
            min(r.received_at) FILTER (WHERE NOT g.aside),
            min(r.received_at)
        ) AS received_at,
        coalesce(min(r.first_token_at) FILTER (WHERE NOT g.aside), min(r.first_token_at)) AS first_token_at,
        coalesce(
            max(r.finished_at) FILTER (WHERE NOT g.aside),
            min(r.received_at) FILTER (WHERE NOT g.aside) + to_microseconds(max(r.latency_us)),
            max(r.finished_at)
        ) AS finished_at,
        arg_min(r.time_precision, (g.aside, r.record)) AS time_precision,
        arg_max(r.status, (NOT g.aside, r.record)) AS status,
        arg_max(r.finish_reason, (NOT g.aside, r.record)) AS finish_reason,
        max(r.prompt_tokens) AS prompt_tokens,
        max(r.completion_tokens) AS completion_tokens,
        max(r.cached_tokens) AS cached_tokens,
        bool_or(r.stream) AS stream,
        min(list_position($states, r.prompt_state)) AS prompt_state,
        min(list_position($states, r.response_state)) AS response_state
    FROM record_groups g
    JOIN records r ON r.record = g.record
    WHERE g.call >= $first AND g.call < $past
    GROUP BY g.call
),
before AS (SELECT count(*) AS rows FROM request_rows)
SELECT
    b.rows + row_number() OVER (ORDER BY m.call) - 1 AS key,
    m.call, f.evidence, f.byte_offset, f.byte_length, f.line, f.record_digest,
    m.request_id, m.vantage, m.tenant_id, m.user_id, m.endpoint, m.model,
    CASE
        WHEN m.dp_rank IS NULL THEN m.worker
        WHEN m.worker IS NULL THEN 'dp' || m.dp_rank
        WHEN w.worker IS NOT NULL THEN m.worker || '_dp' || m.dp_rank
        ELSE m.worker
    END AS worker,
    m.received_at, m.first_token_at, m.finished_at, m.time_precision, m.status, m.finish_reason,
    m.prompt_tokens, m.completion_tokens, m.cached_tokens, m.stream,
    $states[m.prompt_state] AS prompt_state,
    $states[m.response_state] AS response_state
FROM merged m
CROSS JOIN before b
JOIN records f ON f.record = m.call
LEFT JOIN ranked_workers w ON w.worker = m.worker
