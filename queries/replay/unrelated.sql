-- question: which ordinary calls have nothing to do with a leak and could be the company of its control?
-- inputs:   joined_requests, requests, interrupted_requests, fragments
-- grain:    one row per call that ended by itself, of another tenant than those of the leak, not in flight near it
-- parameters: units (list of isolation units), excluded (list of requests), start_us, end_us
-- order:    distance in time from the leak, request
-- No call whose engine id another call has as well, and none that received foreign text.
WITH shared_ids AS (
    SELECT request_id
    FROM requests
    WHERE vantage = 'engine' AND request_id IS NOT NULL
    GROUP BY request_id
    HAVING count(DISTINCT request) > 1
)
SELECT j.request, j.prompt_tokens
FROM joined_requests AS j
WHERE j.prompt_state = 'full'
  AND j.isolation_unit IS NOT NULL
  AND NOT list_contains($units, j.isolation_unit)
  AND NOT list_contains($excluded, j.request)
  AND j.request NOT IN (SELECT request FROM interrupted_requests)
  AND j.request NOT IN (SELECT request FROM fragments)
  AND j.request NOT IN (
      SELECT q.request FROM requests AS q INNER JOIN shared_ids AS s ON s.request_id = q.request_id
  )
  AND coalesce(j.status <> '499', TRUE)
  AND (
      j.received_at IS NULL
      OR epoch_us(j.received_at) > $end_us
      OR epoch_us(coalesce(j.finished_at, j.received_at)) < $start_us
  )
ORDER BY
    least(abs(epoch_us(j.received_at) - $end_us), abs(epoch_us(j.received_at) - $start_us)) NULLS LAST,
    j.request
LIMIT 200
