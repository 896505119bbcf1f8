-- question: (effect) under which ids is each call known at each vantage?
-- inputs:   request_rows, record_groups, record_ids
-- grain:    one row per call x vantage x id
-- parameters: none
-- order:    none
-- Weight 0: the id that names the record. Weight 1: another id of one call. Trace, session and custom ids may stand
-- for many calls and are left out. A profile marks kinds that stand for one call with `joins.` before their name.
CREATE OR REPLACE TEMP TABLE request_ids AS
WITH every AS (
    SELECT key, vantage, request_id AS id, 0 AS weight
    FROM request_rows
    UNION ALL
    SELECT q.key, q.vantage, i.id, 1 AS weight
    FROM record_ids i
    JOIN record_groups g ON g.record = i.record
    JOIN request_rows q ON q.call = g.call
    WHERE i.kind IN (
        'request_id', 'requestid', 'req_id', 'x-request-id', 'request-id', 'rid', 'call_id', 'id', 'request.id', 'response_id',
        'x-litellm-call-id', 'apim-request-id', 'cf-aig-log-id'
    ) OR starts_with(i.kind, 'joins.')
)
SELECT key, vantage, id, min(weight) AS weight
FROM every
GROUP BY key, vantage, id
