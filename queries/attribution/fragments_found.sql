-- question: which fragments stand in these responses, and whom do they name?
-- inputs:   fragments
-- grain:    one row per fragment
-- parameters: requests (list of joined requests)
-- order:    request, field, start, fragment_id
SELECT request, field, "start", "end", kind, machine_verdict, sources
FROM fragments
WHERE list_contains($requests, request)
ORDER BY request, field, "start", fragment_id
