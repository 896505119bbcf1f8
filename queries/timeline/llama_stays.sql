-- question: (effect) which slots of llama.cpp held which calls?
-- inputs:   engine_events, requests, joined_requests
-- grain:    one row per call that has a slot
-- parameters: none
-- order:    none
-- Where the answer itself names its slot, it is logged. The server's own slot lines carry neither a clock nor a request: a
-- task is tied to a call where both are the only ones with their numbers of prompt and answer tokens, and where no other
-- such pair of the process ended in another order.
CREATE OR REPLACE TEMP TABLE llama_stays AS
WITH told AS (
    SELECT request, min(ids ->> '$.slot') AS slot
    FROM requests
    WHERE ids ->> '$.slot' IS NOT NULL
    GROUP BY request
    HAVING count(DISTINCT ids ->> '$.slot') = 1
),
lines AS (
    SELECT
        evidence,
        attributes ->> '$.process' AS process,
        attributes ->> '$.port' AS port,
        slot,
        TRY_CAST(counts ->> '$.task' AS BIGINT) AS task,
        byte_offset,
        kind,
        TRY_CAST(counts ->> '$.n_prompt_tokens' AS BIGINT) AS prompt,
        TRY_CAST(counts ->> '$.kept' AS BIGINT) AS kept,
        TRY_CAST(counts ->> '$.tokens' AS BIGINT) AS tokens
    FROM engine_events
    WHERE kind IN ('prompt_loaded', 'cache_reuse', 'prompt_timing', 'decode_timing', 'slot_free') AND slot IS NOT NULL
),
tasks AS (
    SELECT
        evidence,
        process,
        port,
        slot,
        task,
        max(byte_offset) AS place,
        coalesce(
            max(prompt),
            coalesce(max(kept) FILTER (WHERE kind = 'cache_reuse'), 0) + max(tokens) FILTER (WHERE kind = 'prompt_timing')
        ) AS prompt,
        max(tokens) FILTER (WHERE kind = 'decode_timing') AS answer
    FROM lines
    WHERE task >= 0
    GROUP BY evidence, process, port, slot, task
),
single_tasks AS (
    SELECT *
    FROM tasks
    WHERE prompt IS NOT NULL AND answer IS NOT NULL
    QUALIFY count(*) OVER (PARTITION BY prompt, answer) = 1
),
single_calls AS (
    SELECT request, prompt_tokens, completion_tokens, finished_at
    FROM joined_requests
    WHERE prompt_tokens IS NOT NULL AND completion_tokens IS NOT NULL AND finished_at IS NOT NULL
    QUALIFY count(*) OVER (PARTITION BY prompt_tokens, completion_tokens) = 1
),
pairs AS (
    SELECT t.evidence, t.process, t.port, t.slot, t.place, c.request, c.finished_at
    FROM single_tasks AS t
    INNER JOIN single_calls AS c ON c.prompt_tokens = t.prompt AND c.completion_tokens = t.answer
),
ordered AS (
    -- In order: no pair before it ended later, and none after it ended earlier.
    SELECT
        *,
        max(finished_at) OVER (
            PARTITION BY evidence, process, port ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS latest_before,
        min(finished_at) OVER (
            PARTITION BY evidence, process, port ORDER BY place ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING
        ) AS earliest_after
    FROM pairs
)
SELECT request, slot, 'logged' AS basis, 1.0 AS confidence
FROM told
UNION ALL
SELECT o.request, o.slot, 'derived', 0.7
FROM ordered AS o
ANTI JOIN told AS t ON t.request = o.request
WHERE coalesce(o.latest_before <= o.finished_at, TRUE) AND coalesce(o.earliest_after >= o.finished_at, TRUE)
