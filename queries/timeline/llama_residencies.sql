-- question: (effect) how long did each call of llama.cpp hold its slot, as far as its own times tell?
-- inputs:   llama_stays, joined_requests, request_workers
-- grain:    one row per call that has a slot and a time
-- parameters: none
-- order:    none (INSERT)
INSERT INTO residencies BY NAME
SELECT
    l.request,
    w.worker,
    l.slot,
    'slot' AS phase,
    least(coalesce(j.received_at, j.finished_at), coalesce(j.finished_at, j.received_at)) AS "start",
    greatest(coalesce(j.received_at, j.finished_at), coalesce(j.finished_at, j.received_at)) AS "end",
    l.basis,
    l.confidence * CASE WHEN j.received_at IS NULL OR j.finished_at IS NULL THEN 0.5 ELSE 1.0 END AS confidence,
    'llama_slots' AS source
FROM llama_stays AS l
INNER JOIN joined_requests AS j ON j.request = l.request
INNER JOIN request_workers AS w ON w.request = l.request
WHERE j.received_at IS NOT NULL OR j.finished_at IS NOT NULL
