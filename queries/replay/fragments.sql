-- question: which fragments are worth a replay, the clearest first?
-- inputs:   fragments, verdicts, rejected_fragments, joined_requests
-- grain:    one row per fragment that was not rejected
-- parameters: none
-- order:    verdict, net bits, fragment_id
-- The best fragment of every recipient comes before the second of any.
WITH told AS (
    SELECT
        f.fragment_id,
        f.request,
        f.kind,
        coalesce(v.verdict, f.machine_verdict) AS verdict,
        f.net_bits,
        j.prompt_state
    FROM fragments AS f
    INNER JOIN joined_requests AS j ON j.request = f.request
    LEFT JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE f.fragment_id NOT IN (SELECT fragment_id FROM rejected_fragments)
)
SELECT fragment_id, request, kind, verdict, prompt_state
FROM told
ORDER BY
    verdict NOT IN ('confirmed', 'probable'),
    row_number() OVER (PARTITION BY request ORDER BY verdict NOT IN ('confirmed', 'probable'), net_bits DESC, fragment_id),
    list_position(['confirmed', 'probable', 'possible', 'undetermined', 'excluded'], verdict),
    net_bits DESC,
    fragment_id
