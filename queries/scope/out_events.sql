-- question: what happened to the affected requests and to their sources, moment by moment?
-- inputs:   affected_requests, appearances, fragments, verdicts, joined_requests, residencies
-- grain:    one row per moment of a request or of its stay in a slot, and one per fragment
-- parameters: none
-- order:    time, request, description, slot, fragment_id
WITH recipients AS (
    SELECT request, verdict, fragments, foreign_chars
    FROM affected_requests
),
sources AS (
    SELECT
        a.request,
        count(DISTINCT a.fragment_id) AS fragments
    FROM appearances AS a
    INNER JOIN verdicts AS v ON v.fragment_id = a.fragment_id
    WHERE a.named AND v.verdict <> 'excluded'
    GROUP BY a.request
),
involved AS (
    SELECT
        j.request,
        j.request_id,
        j.tenant_id,
        j.worker,
        j.received_at,
        j.first_token_at,
        j.finished_at,
        coalesce(lower(j.finish_reason) LIKE '%abort%' OR lower(j.finish_reason) LIKE 'cancel%', false) AS aborted,
        r.verdict,
        coalesce(r.fragments, 0) AS fragments,
        coalesce(r.foreign_chars, 0) AS foreign_chars,
        coalesce(s.fragments, 0) AS supplied
    FROM joined_requests AS j
    LEFT JOIN recipients AS r ON r.request = j.request
    LEFT JOIN sources AS s ON s.request = j.request
    WHERE r.request IS NOT NULL OR s.request IS NOT NULL
),
moments AS (
    SELECT received_at AS "at", 'Request Received' AS description, 'llm:request' AS data_type, NULL::VARCHAR AS fragment_id,
        request, request_id, tenant_id, worker, verdict, fragments, foreign_chars, supplied, NULL::VARCHAR[] AS peers,
        NULL::VARCHAR AS slot
    FROM involved
    UNION ALL
    SELECT first_token_at, 'First Token', 'llm:request', NULL,
        request, request_id, tenant_id, worker, verdict, fragments, foreign_chars, supplied, NULL, NULL
    FROM involved
    UNION ALL
    SELECT finished_at, CASE WHEN aborted THEN 'Request Aborted' ELSE 'Response Finished' END, 'llm:request', NULL,
        request, request_id, tenant_id, worker, verdict, fragments, foreign_chars, supplied, NULL, NULL
    FROM involved
    UNION ALL
    SELECT coalesce(j.finished_at, j.received_at), 'Fragment Returned', 'llm:leak', f.fragment_id,
        j.request, j.request_id, j.tenant_id, j.worker, v.verdict, 1, f."end" - f."start", 0, list_sort(f.sources), NULL
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    INNER JOIN joined_requests AS j ON j.request = f.request
    WHERE v.verdict <> 'excluded'
    UNION ALL
    SELECT s."start", 'Slot Taken', 'llm:slot', NULL,
        i.request, i.request_id, i.tenant_id, s.worker, i.verdict, i.fragments, i.foreign_chars, i.supplied, NULL, s.slot
    FROM involved AS i
    INNER JOIN residencies AS s ON s.request = i.request
    WHERE s.slot IS NOT NULL
    UNION ALL
    SELECT s."end", 'Slot Freed', 'llm:slot', NULL,
        i.request, i.request_id, i.tenant_id, s.worker, i.verdict, i.fragments, i.foreign_chars, i.supplied, NULL, s.slot
    FROM involved AS i
    INNER JOIN residencies AS s ON s.request = i.request
    WHERE s.slot IS NOT NULL
)
SELECT
    strftime("at", '%Y-%m-%dT%H:%M:%S.%f+00:00') AS datetime,
    epoch_us("at") AS timestamp,
    description,
    data_type,
    fragment_id,
    request,
    request_id,
    tenant_id,
    worker,
    verdict,
    fragments,
    foreign_chars,
    supplied,
    peers,
    slot
FROM moments
WHERE "at" IS NOT NULL
ORDER BY timestamp, request, description, slot NULLS FIRST, fragment_id NULLS FIRST
