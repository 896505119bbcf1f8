-- question: what would have detected this earlier, and how often would it have raised a false alarm?
-- inputs:   affected_requests, joined_requests, fragments, verdicts, cache_hits, divergences, engine_events, canaries, decoy_strata
-- grain:    one row per way of detection
-- parameters: none
-- order:    caught (most first), way
-- empty:    never: a way that these logs cannot judge says so
-- Caught: affected responses at which it would have fired. False alarms: the same among examined responses without a finding;
-- null where a false alarm cannot be told from a leak that was not found.
WITH affected AS (
    SELECT request, received_at FROM affected_requests WHERE listed = 'affected'
),
clean AS (
    SELECT j.request
    FROM joined_requests AS j
    ANTI JOIN affected_requests AS a ON a.request = j.request
    WHERE j.examinable
),
counts AS (
    SELECT (SELECT count(*) FROM affected) AS affected, (SELECT count(*) FROM clean) AS clean
),
strong AS (
    SELECT f.*
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict IN ('confirmed', 'probable')
),
fired (way, request) AS (
    SELECT 'each answer compared with the texts of other customers', request
    FROM strong
    UNION
    SELECT 'identifiers of other customers in an answer', request
    FROM strong
    WHERE kind = 'identifier' OR coalesce((features::JSON ->> 'identifiers_inside')::DOUBLE, 0) > 0
    UNION
    SELECT 'more cached tokens than the own prefix explains', request
    FROM cache_hits
    WHERE excess_tokens > 0
    UNION
    SELECT 'gateway and engine log another answer', request
    FROM divergences
    WHERE side = 'response' AND kind IN ('added', 'different')
    UNION
    SELECT 'strings planted with each customer (canaries)', request
    FROM strong
    WHERE features::JSON ->> 'canary_label' IS NOT NULL
),
ways (way, needs, judged, why) AS (
    SELECT 'each answer compared with the texts of other customers', 'texts of prompts and answers', TRUE, 'what this tool does afterwards; false alarms: `ask false-positives`'
    UNION ALL
    SELECT 'identifiers of other customers in an answer', 'a list of names, numbers and keys per customer', TRUE, 'a part of the same comparison; false alarms: `ask false-positives`'
    UNION ALL
    SELECT 'more cached tokens than the own prefix explains', 'cached tokens per request', (SELECT count(*) FROM cache_hits) > 0,
        CASE WHEN (SELECT count(*) FROM cache_hits) > 0 THEN 'cached tokens are logged' ELSE 'no cached tokens in these logs' END
    UNION ALL
    SELECT 'gateway and engine log another answer', 'answers logged at both places', (SELECT count(*) FROM joined_requests WHERE contains(vantages, ',')) > 0,
        CASE WHEN (SELECT count(*) FROM joined_requests WHERE contains(vantages, ',')) > 0 THEN 'calls seen at two places' ELSE 'no call was seen at two places' END
    UNION ALL
    SELECT 'strings planted with each customer (canaries)', 'planted strings, `forensics run --canaries`', (SELECT count(*) FROM canaries) > 0,
        CASE WHEN (SELECT count(*) FROM canaries) > 0 THEN 'planted strings were given' ELSE 'none were planted' END
),
caught AS (
    SELECT h.way, count(DISTINCT a.request) AS caught, min(a.received_at) AS first_at, count(DISTINCT c.request) AS false_alarms
    FROM fired AS h
    LEFT JOIN affected AS a ON a.request = h.request
    LEFT JOIN clean AS c ON c.request = h.request
    GROUP BY h.way
),
alarms AS (
    SELECT min("at") AS first_at, count(*) AS lines
    FROM engine_events
    WHERE kind IN ('kv_double_free', 'kv_canary_violation', 'memory_leak', 'context_corruption')
),
all_ways AS (
    SELECT
        w.way,
        w.needs,
        CASE WHEN w.judged THEN coalesce(c.caught, 0) END AS caught,
        n.affected AS of_affected,
        c.first_at AS fires_first_at,
        CASE WHEN w.judged AND w.way NOT LIKE '%other customers%' AND w.way NOT LIKE '%canaries%' THEN coalesce(c.false_alarms, 0) END AS false_alarms,
        n.clean AS of_unaffected,
        w.why
    FROM ways AS w
    CROSS JOIN counts AS n
    LEFT JOIN caught AS c ON c.way = w.way
    UNION ALL
    SELECT
        'alarms of the engine itself (double free, damaged KV pages)',
        'the engine''s own checks switched on',
        NULL,
        n.affected,
        a.first_at,
        NULL,
        n.clean,
        CASE WHEN a.lines = 0 THEN 'no such line in these logs' ELSE a.lines || ' such lines; they name no request' END
    FROM alarms AS a
    CROSS JOIN counts AS n
)
SELECT way, needs, caught, of_affected, fires_first_at, false_alarms, of_unaffected, why
FROM all_ways
ORDER BY caught DESC NULLS LAST, way
