-- question: what was examined and what was found, in a dozen counts?
-- inputs:   joined_requests, affected_requests, affected_tenants, fragments, rejects, evidence
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    (SELECT count(*) FROM evidence) AS files,
    (SELECT count(*) FROM evidence WHERE format = 'unknown') AS unknown_files,
    (SELECT count(*) FROM evidence WHERE NOT complete) AS incomplete_files,
    (SELECT CAST(coalesce(sum(content_bytes), 0) AS BIGINT) FROM evidence) AS content_bytes,
    (SELECT CAST(coalesce(sum(records), 0) AS BIGINT) FROM evidence) AS records,
    (SELECT count(*) FROM rejects) AS rejected,
    (SELECT count(*) FROM joined_requests) AS requests,
    (SELECT count(*) FROM joined_requests WHERE examinable) AS examined,
    (SELECT count(DISTINCT tenant_id) FROM joined_requests) AS tenants,
    (SELECT count(*) FROM affected_requests WHERE listed = 'affected') AS affected,
    (SELECT count(*) FROM affected_requests WHERE verdict = 'confirmed') AS confirmed,
    (SELECT count(*) FROM affected_requests WHERE verdict = 'probable') AS probable,
    (SELECT count(*) FROM affected_requests WHERE verdict = 'possible') AS possible,
    (SELECT count(*) FROM affected_requests WHERE verdict = 'undetermined') AS undetermined,
    (SELECT count(*) FROM fragments) AS fragments,
    (SELECT count(*) FROM affected_tenants WHERE role IN ('recipient', 'both') AND notify <> 'no') AS recipient_tenants,
    (SELECT count(*) FROM affected_tenants WHERE role IN ('source', 'both') AND notify <> 'no') AS source_tenants,
    (SELECT min(received_at) FROM affected_requests WHERE listed = 'affected') AS first_at,
    (SELECT max(received_at) FROM affected_requests WHERE listed = 'affected') AS last_at
