-- question: how often do affected and unaffected responses have each property?
-- inputs:   joined_requests, fragments, rejected_fragments, cache_hits, residencies, interrupted_requests, request_contents, contents, slot_derivations
-- grain:    one row per factor and value that an affected response has
-- parameters: low, high (finish times between which responses are compared; null: no limit), values (the most per factor)
-- order:    factor, value
-- Unaffected: examined, without a fragment of any strength. Lengths of prompts are compared at the upper quartile
-- of all of them. The length of a response is left out: the leak itself makes it longer.
WITH strength AS (
    SELECT
        f.request,
        bool_or(f.machine_verdict = 'probable' AND j.fragment_id IS NULL) AS affected
    FROM fragments AS f
    LEFT JOIN rejected_fragments AS j ON j.fragment_id = f.fragment_id
    GROUP BY f.request
),
responses AS (
    SELECT j.*, coalesce(s.affected, false) AS affected
    FROM joined_requests AS j
    LEFT JOIN strength AS s ON s.request = j.request
    WHERE j.examinable
        AND (s.request IS NULL OR s.affected)
        AND ($low::TIMESTAMP IS NULL OR coalesce(j.finished_at, j.received_at) >= $low::TIMESTAMP)
        AND ($high::TIMESTAMP IS NULL OR coalesce(j.finished_at, j.received_at) <= $high::TIMESTAMP)
),
per_place AS (
    SELECT u.request, u.key, sum(c.code_points) AS code_points
    FROM request_contents AS u
    INNER JOIN responses AS r ON r.request = u.request
    INNER JOIN contents AS c ON c.content = u.content
    WHERE u.side = 'prompt'
    GROUP BY u.request, u.key
),
lengths AS (
    SELECT
        request,
        max(code_points) AS prompt_chars
    FROM per_place
    GROUP BY request
),
prompts AS (
    SELECT u.request, max_by(u.content, (c.code_points, u.content)) AS content
    FROM request_contents AS u
    INNER JOIN responses AS r ON r.request = u.request
    INNER JOIN contents AS c ON c.content = u.content
    WHERE u.side = 'prompt'
    GROUP BY u.request
),
asked AS (
    SELECT p.request, p.content, r.isolation_unit, r.received_at
    FROM prompts AS p
    INNER JOIN responses AS r ON r.request = p.request
),
repeated AS (
    SELECT isolation_unit, content
    FROM asked
    GROUP BY isolation_unit, content
    HAVING count(*) > 1
),
retried AS (
    SELECT DISTINCT a.request
    FROM asked AS a
    INNER JOIN repeated AS e ON e.isolation_unit = a.isolation_unit AND e.content = a.content
    INNER JOIN asked AS b
        ON b.content = a.content AND b.isolation_unit = a.isolation_unit AND b.request <> a.request
        AND abs(epoch_us(b.received_at) - epoch_us(a.received_at)) <= 600000000
),
interrupted AS (
    SELECT request, bool_or(how = 'aborted') AS aborted, bool_or(how = 'retracted') AS retracted
    FROM interrupted_requests
    GROUP BY request
),
quartiles AS (
    SELECT
        quantile_disc(l.prompt_chars, 0.75) AS prompt_chars,
        quantile_disc(r.prompt_tokens, 0.75) AS prompt_tokens
    FROM responses AS r
    LEFT JOIN lengths AS l ON l.request = r.request
),
described AS (
    SELECT
        r.affected,
        coalesce(w.worker, r.worker, 'unknown') AS worker,
        r.model,
        r.endpoint,
        v.version AS engine_version,
        CASE WHEN r.stream THEN 'yes' WHEN NOT r.stream THEN 'no' END AS stream,
        r.finish_reason,
        CASE WHEN i.aborted THEN 'yes' ELSE 'no' END AS aborted,
        CASE WHEN i.retracted THEN 'yes' ELSE 'no' END AS retracted,
        CASE WHEN a.request IS NULL THEN NULL WHEN t.request IS NULL THEN 'no' ELSE 'yes' END AS retried,
        CASE coalesce(h.cached_tokens, r.cached_tokens) > 0 WHEN true THEN 'yes' WHEN false THEN 'no' END AS cache_hit,
        CASE l.prompt_chars > q.prompt_chars
            WHEN true THEN 'over ' || q.prompt_chars || ' characters'
            WHEN false THEN 'no more'
        END AS long_prompt,
        CASE r.prompt_tokens > q.prompt_tokens
            WHEN true THEN 'over ' || q.prompt_tokens || ' tokens'
            WHEN false THEN 'no more'
        END AS many_prompt_tokens
    FROM responses AS r
    CROSS JOIN quartiles AS q
    LEFT JOIN lengths AS l ON l.request = r.request
    LEFT JOIN asked AS a ON a.request = r.request
    LEFT JOIN retried AS t ON t.request = r.request
    LEFT JOIN interrupted AS i ON i.request = r.request
    LEFT JOIN cache_hits AS h ON h.request = r.request
    LEFT JOIN residencies AS w ON w.request = r.request AND w.phase = 'serve'
    LEFT JOIN slot_derivations AS v ON v.worker = w.worker
),
long AS (
    UNPIVOT described
    ON worker, model, endpoint, engine_version, stream, finish_reason, aborted, retracted, retried, cache_hit, long_prompt,
        many_prompt_tokens
    INTO NAME factor VALUE value
),
counted AS (
    SELECT
        factor,
        value,
        count(*) FILTER (WHERE affected) AS affected,
        count(*) FILTER (WHERE NOT affected) AS unaffected,
        (sum(count(*) FILTER (WHERE affected)) OVER whole)::BIGINT AS affected_of,
        (sum(count(*) FILTER (WHERE NOT affected)) OVER whole)::BIGINT AS unaffected_of,
        count(*) OVER whole AS values_seen
    FROM long
    GROUP BY factor, value
    WINDOW whole AS (PARTITION BY factor)
),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY factor ORDER BY affected DESC, unaffected DESC, value) AS place
    FROM counted
    WHERE values_seen > 1 AND value NOT IN ('no', 'no more')
)
SELECT factor, value, affected, affected_of, unaffected, unaffected_of
FROM ranked
WHERE place <= $values AND affected_of > 0 AND unaffected_of > 0
ORDER BY factor, value
