-- question: how many requests were seen where, and where did their tenant come from?
-- inputs:   joined_requests
-- grain:    one row per set of vantages x tenant basis
-- parameters: none
-- order:    vantages, tenant_basis
-- empty:    there are no requests in the evidence
SELECT vantages, tenant_basis, count(*) AS requests, count(*) FILTER (WHERE examinable) AS examinable
FROM joined_requests
GROUP BY vantages, tenant_basis
ORDER BY vantages, tenant_basis
