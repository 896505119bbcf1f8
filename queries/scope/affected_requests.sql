-- question: which requests carry foreign text in their response, and how sure is that?
-- inputs:   fragments, verdicts, joined_requests
-- grain:    one row per recipient request with a fragment that is not excluded
-- parameters: none
-- order:    none (INSERT)
-- A request with a fragment that is probable or better is `affected`, and only such fragments count for it. Any other is
-- `possible`, and its possible and undetermined fragments count. Overlapping fragments count their characters once.
INSERT INTO affected_requests BY NAME
WITH judged AS (
    SELECT
        f.request,
        f.recipient_request_id,
        f.recipient_tenant_id,
        f.field,
        f."start",
        f."end",
        f.sources,
        v.verdict,
        v.verdict IN ('confirmed', 'probable') AS strong,
        CASE v.verdict WHEN 'confirmed' THEN 1 WHEN 'probable' THEN 2 WHEN 'possible' THEN 3 ELSE 4 END AS strength
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict <> 'excluded'
),
counted AS (
    SELECT
        *,
        max("end") OVER (
            PARTITION BY request, field, strong
            ORDER BY "start", "end"
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS reached
    FROM judged
    QUALIFY strong = bool_or(strong) OVER (PARTITION BY request)
)
SELECT
    c.request,
    any_value(c.recipient_request_id) AS request_id,
    any_value(c.recipient_tenant_id) AS tenant_id,
    any_value(j.received_at) AS received_at,
    any_value(j.worker) AS worker,
    arg_min(c.verdict, c.strength) AS verdict,
    count(*) AS fragments,
    sum(greatest(0, c."end" - greatest(c."start", coalesce(c.reached, c."start"))))::BIGINT AS foreign_chars,
    list_sort(list_distinct(flatten(list(c.sources)))) AS source_tenants,
    CASE WHEN bool_or(c.strong) THEN 'affected' ELSE 'possible' END AS listed
FROM counted AS c
LEFT JOIN joined_requests AS j ON j.request = c.request
GROUP BY c.request
