-- question: of which calls does an engine say how much of the prompt it took from the prefix cache, and under which key?
-- inputs:   joined_requests, requests, request_workers, time_stats, engine_events, call_names, residencies
-- grain:    one row per call: those without a count are there as possible holders of a prefix
-- parameters: none
-- order:    worker, request
-- The answer's own count first, then the scheduler's line, then the match that the probe saw.
WITH keys AS (
    SELECT
        request,
        max(ids ->> '$.cache_salt') AS salt,
        max(ids ->> '$.extra_key') AS extra_key,
        max(coalesce(ids ->> '$.lora_path', ids ->> '$.lora_name')) AS adapter
    FROM requests
    WHERE ids <> '{}'
    GROUP BY request
),
lines AS (
    SELECT request, max(cached_input_len) AS cached, max(input_len) AS input, bool_or(attempts > 1) AS again
    FROM time_stats
    WHERE request IS NOT NULL
    GROUP BY request
),
matches AS (
    SELECT c.request, max(TRY_CAST(v.counts ->> '$.matched' AS BIGINT)) AS cached
    FROM engine_events AS v
    INNER JOIN call_names AS c ON c.rid = v.request_id
    WHERE v.kind = 'probe_match' AND NOT c.repeated
    GROUP BY c.request
),
engines AS (
    SELECT
        request,
        min(epoch_us(received_at)) AS received_us,
        max(epoch_us(coalesce(first_token_at, finished_at)) + digits) AS at_us,
        max(epoch_us(finished_at) + digits) AS finished_us
    FROM (
        -- What is not printed was cut off: an end may be that much later.
        SELECT *, CASE time_precision WHEN 's' THEN 999999 WHEN 'ms' THEN 999 ELSE 0 END AS digits
        FROM requests
    ) AS q
    WHERE vantage = 'engine'
    GROUP BY request
),
slots AS (
    SELECT request, max(epoch_us("end")) AS freed_us
    FROM residencies
    WHERE phase = 'slot' AND basis = 'logged'
    GROUP BY request
),
retracted AS (
    SELECT DISTINCT c.request
    FROM engine_events AS v
    INNER JOIN call_names AS c ON c.rid = v.request_id
    WHERE v.kind IN ('probe_retract', 'retraction')
)
SELECT
    j.request,
    w.worker,
    epoch_us(coalesce(j.received_at, j.finished_at)) AS received_us,
    epoch_us(coalesce(j.first_token_at, j.finished_at, j.received_at)) AS at_us,
    e.received_us AS engine_received_us,
    e.at_us AS engine_at_us,
    CASE
        WHEN epoch_us(p."start") >= e.received_us AND coalesce(epoch_us(p."start") <= e.at_us, TRUE) THEN epoch_us(p."start")
    END AS engine_started_us,
    coalesce(e.finished_us, s.freed_us) AS engine_finished_us,
    coalesce(j.prompt_tokens, l.input) AS prompt_tokens,
    coalesce(j.cached_tokens, l.cached, m.cached) AS cached_tokens,
    CASE WHEN j.cached_tokens IS NULL AND l.cached IS NULL AND m.cached IS NOT NULL THEN 'derived' ELSE 'logged' END AS basis,
    coalesce(k.salt, '') AS salt,
    coalesce(k.extra_key, '') AS extra_key,
    coalesce(k.adapter, '') AS adapter,
    coalesce(l.again, FALSE) OR r.request IS NOT NULL AS retracted
FROM joined_requests AS j
INNER JOIN request_workers AS w ON w.request = j.request
LEFT JOIN keys AS k ON k.request = j.request
LEFT JOIN lines AS l ON l.request = j.request
LEFT JOIN matches AS m ON m.request = j.request
LEFT JOIN engines AS e ON e.request = j.request
LEFT JOIN slots AS s ON s.request = j.request
LEFT JOIN residencies AS p ON p.request = j.request AND p.phase = 'run' AND p.basis = 'logged'
LEFT JOIN retracted AS r ON r.request = j.request
ORDER BY w.worker, j.request
