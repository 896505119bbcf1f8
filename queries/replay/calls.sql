-- question: what do the logs tell of how each of these calls was made and how it ended?
-- inputs:   joined_requests, requests, request_settings, interrupted_requests, engine_events, engine_rids, batches, batch_members
-- grain:    one row per request
-- parameters: requests (list)
-- order:    request
-- Tokens given by the time of an abort: as the engine counted them, else as the log's own count, else one per decode pass.
WITH asked AS (
    SELECT *
    FROM joined_requests
    WHERE list_contains($requests, request)
),
settings AS (
    SELECT
        q.request,
        arg_min(s.sampling, list_position(['engine', 'gateway', 'client'], q.vantage)) AS sampling
    FROM requests AS q
    INNER JOIN request_settings AS s ON s.key = q.key
    WHERE list_contains($requests, q.request) AND s.sampling IS NOT NULL
    GROUP BY q.request
),
ids AS (
    SELECT
        request,
        max(ids::JSON ->> '$.cache_salt') AS cache_salt,
        max(ids::JSON ->> '$.extra_key') AS extra_key,
        min(request_id) FILTER (WHERE vantage = 'engine') AS rid
    FROM requests
    WHERE list_contains($requests, request)
    GROUP BY request
),
counted AS (
    SELECT i.request, max((e.counts::JSON ->> '$.output_len')::BIGINT) AS tokens
    FROM engine_events AS e
    INNER JOIN engine_rids AS i ON i.rid = e.request_id
    WHERE e.kind = 'request_time_stats' AND list_contains($requests, i.request)
    GROUP BY i.request
),
decoded AS (
    SELECT m.request, count(*) + 1 AS tokens
    FROM batch_members AS m
    INNER JOIN batches AS b ON b.batch = m.batch
    WHERE b.kind = 'decode' AND list_contains($requests, m.request)
    GROUP BY m.request
)
SELECT
    a.request,
    a.tenant_id,
    a.isolation_unit AS unit,
    a.endpoint,
    a.model,
    epoch_us(a.received_at) AS received_us,
    epoch_us(a.finished_at) AS finished_us,
    a.prompt_tokens,
    a.completion_tokens,
    a.stream,
    a.prompt_state,
    s.sampling,
    i.cache_salt,
    i.extra_key,
    coalesce(i.rid, a.request_id) AS rid,
    coalesce(x.how = 'aborted', FALSE) OR coalesce(a.status = '499', FALSE) AS aborted,
    coalesce(nullif(c.tokens, 0), nullif(a.completion_tokens, 0), d.tokens) AS tokens_at_end
FROM asked AS a
LEFT JOIN settings AS s ON s.request = a.request
LEFT JOIN ids AS i ON i.request = a.request
LEFT JOIN (SELECT DISTINCT request, how FROM interrupted_requests WHERE how = 'aborted') AS x ON x.request = a.request
LEFT JOIN counted AS c ON c.request = a.request
LEFT JOIN decoded AS d ON d.request = a.request
ORDER BY a.request
