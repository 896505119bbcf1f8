-- question: from which request to which did text travel, as far as that is probable or better?
-- inputs:   fragments, verdicts, appearances
-- grain:    one row per source request and recipient request
-- parameters: none
-- order:    recipient, source
-- One source request per fragment and named tenant: the best-ranked one.
WITH best AS (
    SELECT
        fragment_id,
        source_tenant_id,
        arg_min(request, rank) AS source_request
    FROM appearances
    WHERE named
    GROUP BY fragment_id, source_tenant_id
)
SELECT
    b.source_request,
    f.request AS recipient_request,
    count(DISTINCT f.fragment_id) AS fragments,
    sum(f."end" - f."start")::BIGINT AS characters,
    min(v.verdict) AS verdict,  -- confirmed before probable
    bool_or(len(f.sources) > 1) AS one_of_several
FROM best AS b
INNER JOIN fragments AS f ON f.fragment_id = b.fragment_id
INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
WHERE v.verdict IN ('confirmed', 'probable')
GROUP BY b.source_request, f.request
ORDER BY recipient_request, source_request
