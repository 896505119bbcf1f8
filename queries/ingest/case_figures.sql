-- question: what does the evidence amount to once it is joined?
-- inputs:   requests, joined_requests, request_tenants, contents
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    (SELECT count(*) FROM joined_requests) AS requests,
    (SELECT count(*) FROM joined_requests WHERE contains(vantages, ',')) AS joined,
    (SELECT count(*) FROM joined_requests WHERE examinable) AS examinable,
    (SELECT count(*) FROM joined_requests WHERE tenant_id IS NULL) AS without_tenant,
    (SELECT count(DISTINCT tenant_id) FROM joined_requests) AS tenants,
    (SELECT count(*) FROM request_tenants WHERE conflict) AS tenant_conflicts,
    (SELECT count(*) FROM contents) AS contents
