-- question: which examined responses carry foreign text, in the order in which they finished?
-- inputs:   joined_requests, residencies, fragments, rejected_fragments
-- grain:    one row per examined response with a time
-- parameters: none
-- order:    time, request
WITH affected AS (
    SELECT DISTINCT f.request
    FROM fragments AS f
    LEFT JOIN rejected_fragments AS j ON j.fragment_id = f.fragment_id
    WHERE f.machine_verdict = 'probable' AND j.fragment_id IS NULL
)
SELECT
    coalesce(v.worker, 'unknown') AS worker,
    coalesce(j.finished_at, j.received_at) AS moment,
    a.request IS NOT NULL AS affected
FROM joined_requests AS j
LEFT JOIN residencies AS v ON v.request = j.request AND v.phase = 'serve'
LEFT JOIN affected AS a ON a.request = j.request
WHERE j.examinable AND coalesce(j.finished_at, j.received_at) IS NOT NULL
ORDER BY moment, j.request
