-- question: whose prompts may stand in as wrong sources of a fragment?
-- inputs:   joined_requests, appearances
-- grain:    one row per call of another tenant than those of the leak whose prompt is whole and holds nothing of it
-- parameters: fragment, units (list of isolation units), length (tokens of the prompt to match)
-- order:    difference in length, request
-- A request that the fragment appears in is no wrong source, whether it is named as one or not.
SELECT j.request
FROM joined_requests AS j
WHERE j.prompt_state = 'full'
  AND j.isolation_unit IS NOT NULL
  AND NOT list_contains($units, j.isolation_unit)
  AND j.request NOT IN (SELECT request FROM appearances WHERE fragment_id = $fragment)
ORDER BY abs(coalesce(j.prompt_tokens, 0) - $length), j.request
LIMIT 1000
