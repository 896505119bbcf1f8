-- question: (audit) which tenants of affected requests are not in the list of tenants?
-- inputs:   affected_requests, affected_tenants
-- grain:    one row per request
-- parameters: none
-- order:    subject, problem
SELECT 'request ' || affected_requests.request AS subject, 'its tenant is not in the list of affected tenants' AS problem
FROM affected_requests
ANTI JOIN affected_tenants USING (tenant_id)
WHERE affected_requests.listed = 'affected' AND affected_requests.tenant_id IS NOT NULL
UNION ALL
SELECT 'request ' || affected_requests.request, 'a source tenant is not in the list of affected tenants'
FROM affected_requests
WHERE affected_requests.listed = 'affected'
  AND EXISTS (
      SELECT 1
      FROM unnest(affected_requests.source_tenants) AS sources(tenant_id)
      WHERE sources.tenant_id NOT IN (SELECT affected_tenants.tenant_id FROM affected_tenants)
  )
ORDER BY subject, problem
