-- question: which tenants are affected, in which role, and must they be told?
-- inputs:   affected_tenants
-- grain:    one row per tenant
-- parameters: none
-- order:    notify (yes, review, no), tenant_id
SELECT
    tenant_id,
    role,
    notify,
    verdict,
    requests_as_recipient,
    requests_as_source,
    fragments,
    foreign_chars
FROM affected_tenants
ORDER BY CASE notify WHEN 'yes' THEN 1 WHEN 'review' THEN 2 ELSE 3 END, tenant_id
