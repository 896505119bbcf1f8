-- question: (effect) under which ids is each call known at each vantage?
-- inputs:   request_rows, record_groups, record_ids
-- grain:    one row per call x vantage x id
-- parameters: none
-- order:    none
-- Weight 0: the id that names the record. Weight 1: another id of one call. Weight 2: an id that may stand for several
-- calls (a trace, a correlation, a label of the caller's) and joins only what nothing else speaks against. Ids of
-- sessions, conversations, users and keys stand for many calls and are left out. A profile
-- marks kinds of its own that stand for one call with `joins.` before their name. `brought`: the id is known from the
-- body of an answer alone. A body that went to the wrong call brought its id along; an engine's ids are its own.
CREATE OR REPLACE TEMP TABLE request_ids AS
WITH known(name, weight) AS (
    VALUES
        ('request-id', 1), ('requestid', 1), ('req-id', 1), ('x-request-id', 1), ('rid', 1), ('call-id', 1), ('id', 1),
        ('response-id', 1), ('responseid', 1), ('completion-id', 1), ('generation-id', 1), ('observation-id', 1),
        ('engine-id', 1), ('engine-request-id', 1), ('external-id', 1), ('external-request-id', 1), ('gateway-id', 1),
        ('upstream-request-id', 1), ('x-upstream-request-id', 1), ('log-id', 1), ('invocation-id', 1), ('ce-id', 1),
        ('x-litellm-call-id', 1), ('litellm-call-id', 1), ('apim-request-id', 1), ('cf-aig-log-id', 1),
        ('x-amzn-requestid', 1), ('x-ms-request-id', 1), ('x-ms-client-request-id', 1), ('client-request-id', 1),
        ('gen-ai-response-id', 1), ('gen-ai-request-id', 1), ('batch-request-id', 1),
        ('trace-id', 2), ('traceid', 2), ('x-trace-id', 2), ('span-id', 2), ('traceparent', 2), ('correlation-id', 2),
        ('correlationid', 2), ('x-correlation-id', 2), ('custom-id', 2), ('external-trace-id', 2)
),
of_answers(name) AS (
    VALUES ('response-id'), ('responseid'), ('completion-id'), ('generation-id'), ('gen-ai-response-id')
),
kinds AS (
    SELECT i.kind, coalesce(k.weight, 1) AS weight,
        regexp_replace(lower(replace(i.kind, 'joins.', '')), '[^a-z0-9]+', '-', 'g') IN (FROM of_answers) AS of_answer
    FROM (SELECT DISTINCT kind FROM record_ids) i
    LEFT JOIN known k ON k.name = regexp_replace(lower(i.kind), '[^a-z0-9]+', '-', 'g')
    WHERE k.name IS NOT NULL OR starts_with(i.kind, 'joins.')
),
every AS (
    SELECT key, vantage, 'request_id' AS kind, request_id AS id, 0 AS weight, NULL AS of_answer
    FROM request_rows
    UNION ALL
    SELECT q.key, q.vantage, i.kind, i.id, k.weight, k.of_answer
    FROM record_ids i
    JOIN kinds k ON k.kind = i.kind
    JOIN record_groups g ON g.record = i.record
    JOIN request_rows q ON q.call = g.call
)
SELECT key, vantage, id, min(weight) AS weight, substr(min(weight || kind), 2) AS kind,
    vantage <> 'engine' AND coalesce(bool_and(of_answer), FALSE) AS brought
FROM every
GROUP BY key, vantage, id
