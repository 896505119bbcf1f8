-- question: (effect) which records tell of the same call at the same vantage?
-- inputs:   records, record_ids, batch_items
-- grain:    one row per record that no earlier record repeats, with the record that names its call
-- parameters: none
-- order:    none
-- Engine lines: received and finished of one rid. A rid that repeats is paired by start time where the finished line
-- says how long it took, else the n-th with the n-th. Other vantages: several lines of one id are one call only where
-- nothing they say differs; two different calls are never merged. The events of a span (part `events`, named by trace and
-- span) go to the record of that span where there is one only, in whichever file it stands. The line of a batch's input
-- goes to that of its output, which has the service's id. What tells of a call without its texts (a trace's span, a metrics
-- line) goes to the engine's own lines of that rid: as many of the one as of the other, the n-th with the n-th, at the same
-- time but for a zone that is not known yet, with the same counts of tokens; `aside` marks it.
CREATE OR REPLACE TEMP TABLE record_groups AS
WITH first_copies AS (
    SELECT record, vantage, part, request_id, coalesce(worker, '') AS worker, received_at, finished_at, latency_us
    FROM records
    QUALIFY row_number() OVER (PARTITION BY vantage, part, request_id, record_digest ORDER BY record) = 1
),
engine_lines AS (
    SELECT
        record, request_id, worker, part, latency_us,
        coalesce(received_at, finished_at) AS starts,
        row_number() OVER (
            PARTITION BY request_id, worker, part ORDER BY coalesce(received_at, finished_at), record
        ) AS n,
        count(*) OVER (PARTITION BY request_id, worker, part) AS same
    FROM first_copies
    WHERE part NOT IN ('whole', 'events')
),
received AS (SELECT * FROM engine_lines WHERE part = 'received'),
finished AS (SELECT * FROM engine_lines WHERE part = 'finished'),
repeated AS (SELECT DISTINCT request_id, worker FROM engine_lines WHERE same > 1),
timed AS (
    SELECT f.record, r.record AS call, abs(epoch_us(f.starts) - epoch_us(r.starts)) AS distance
    FROM (SELECT * FROM finished WHERE latency_us IS NOT NULL AND starts IS NOT NULL) f
    SEMI JOIN repeated USING (request_id, worker)
    ASOF JOIN (
        SELECT request_id, worker, record, starts, starts - INTERVAL 1 SECOND AS earliest
        FROM received
        WHERE starts IS NOT NULL
    ) r ON f.request_id = r.request_id AND f.worker = r.worker AND f.starts >= r.earliest
),
timed_pairs AS (
    SELECT record, call
    FROM timed
    WHERE distance <= 5_000_000
    QUALIFY row_number() OVER (PARTITION BY call ORDER BY distance, record) = 1
),
numbered_pairs AS (
    SELECT x.record, r.record AS call
    FROM (
        SELECT x.*
        FROM engine_lines x
        WHERE x.part = 'received_openai'
           OR (x.part = 'finished'
               AND (x.latency_us IS NULL OR (x.request_id, x.worker) NOT IN (SELECT (request_id, worker) FROM repeated)))
    ) x
    JOIN received r ON r.request_id = x.request_id AND r.worker = x.worker AND r.n = x.n
    WHERE x.starts IS NULL OR r.starts IS NULL
       OR (x.part = 'received_openai' AND abs(epoch_us(x.starts) - epoch_us(r.starts)) <= 60_000_000)
       OR (x.part = 'finished' AND x.starts >= r.starts - INTERVAL 1 SECOND)
),
engine AS (
    SELECT x.record, coalesce(t.call, p.call, x.record) AS call
    FROM engine_lines x
    LEFT JOIN timed_pairs t ON t.record = x.record
    LEFT JOIN numbered_pairs p ON p.record = x.record
),
several AS (
    SELECT vantage, request_id
    FROM first_copies
    WHERE part = 'whole'
    GROUP BY vantage, request_id
    HAVING count(*) > 1
),
agreeing AS (
    SELECT r.vantage, r.request_id, min(r.record) AS call
    FROM records r
    JOIN first_copies c ON c.record = r.record
    JOIN several s ON s.vantage = r.vantage AND s.request_id = r.request_id
    WHERE r.part = 'whole'
    GROUP BY r.vantage, r.request_id
    HAVING min(r.tenant_id) IS NOT DISTINCT FROM max(r.tenant_id)
        AND min(r.user_id) IS NOT DISTINCT FROM max(r.user_id)
        AND min(r.model) IS NOT DISTINCT FROM max(r.model)
        AND min(r.worker) IS NOT DISTINCT FROM max(r.worker)
        AND min(r.received_at) IS NOT DISTINCT FROM max(r.received_at)
        AND min(r.finished_at) IS NOT DISTINCT FROM max(r.finished_at)
        AND min(r.status) IS NOT DISTINCT FROM max(r.status)
        AND min(r.finish_reason) IS NOT DISTINCT FROM max(r.finish_reason)
        AND count(*) FILTER (WHERE r.prompt_state <> 'absent') <= 1
        AND count(*) FILTER (WHERE r.response_state <> 'absent') <= 1
),
alone AS (
    SELECT c.record, c.vantage, coalesce(b.answered, a.call, c.record) AS call
    FROM first_copies c
    LEFT JOIN agreeing a ON a.vantage = c.vantage AND a.request_id = c.request_id
    LEFT JOIN batch_items b ON b.asked = c.record AND b.sure
    WHERE c.part = 'whole'
),
told AS (
    SELECT
        e.call, any_value(x.vantage) AS vantage, any_value(x.request_id) AS request_id, min(x.received_at) AS starts,
        max(x.prompt_tokens) AS prompt_tokens, max(x.completion_tokens) AS completion_tokens
    FROM engine e
    JOIN records x ON x.record = e.record
    GROUP BY e.call
),
textless AS (
    SELECT
        a.call, any_value(x.vantage) AS vantage, any_value(x.request_id) AS request_id, min(x.received_at) AS starts,
        max(x.prompt_tokens) AS prompt_tokens, max(x.completion_tokens) AS completion_tokens
    FROM (SELECT * FROM alone WHERE vantage IN (SELECT vantage FROM told)) a
    JOIN records x ON x.record = a.record
    GROUP BY a.call
    HAVING bool_and(x.prompt_state IN ('absent', 'not_logged') AND x.response_state IN ('absent', 'not_logged'))
),
numbered_calls AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY vantage, request_id ORDER BY starts, call) AS n,
        count(*) OVER (PARTITION BY vantage, request_id) AS same
    FROM told
),
numbered_textless AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY vantage, request_id ORDER BY starts, call) AS n,
        count(*) OVER (PARTITION BY vantage, request_id) AS same
    FROM textless
    WHERE request_id IS NOT NULL
),
asides AS (
    SELECT t.call, c.call AS of_call
    FROM numbered_textless t
    JOIN numbered_calls c
        ON c.vantage = t.vantage AND c.request_id = t.request_id AND c.n = t.n AND c.same = t.same
    WHERE (t.prompt_tokens = c.prompt_tokens) IS DISTINCT FROM FALSE
        AND (t.completion_tokens = c.completion_tokens) IS DISTINCT FROM FALSE
        -- Zones lie a quarter of an hour apart.
        AND (abs(epoch_us(t.starts) - epoch_us(c.starts)) <= 26 * 3_600_000_000) IS DISTINCT FROM FALSE
        AND ((abs(epoch_us(t.starts) - epoch_us(c.starts)) + 30_000_000) % 900_000_000 <= 60_000_000) IS DISTINCT FROM FALSE
        AND (t.same = 1 OR t.starts IS NOT NULL AND c.starts IS NOT NULL)
),
wholes AS (
    SELECT a.record, a.vantage, coalesce(x.of_call, a.call) AS call, x.call IS NOT NULL AS aside
    FROM alone a
    LEFT JOIN asides x ON x.call = a.call
),
spans AS (
    SELECT w.vantage, i.id, min(w.call) AS call
    FROM record_ids i
    JOIN wholes w ON w.record = i.record
    WHERE i.kind = 'span'
    GROUP BY w.vantage, i.id
    HAVING min(w.call) = max(w.call)
),
events AS (
    SELECT c.record, coalesce(s.call, min(c.record) OVER (PARTITION BY c.vantage, c.request_id)) AS call
    FROM first_copies c
    LEFT JOIN spans s ON s.vantage = c.vantage AND s.id = c.request_id
    WHERE c.part = 'events'
)
SELECT record, call, FALSE AS aside FROM engine
UNION ALL
SELECT record, call, aside FROM wholes
UNION ALL
SELECT record, call, FALSE FROM events
