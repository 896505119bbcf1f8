-- question: which tenants are affected, and which of them must be told?
-- inputs:   affected_tenants
-- grain:    one row per tenant
-- parameters: none
-- order:    tenant_id
SELECT
    tenant_id,
    role,
    notify,
    verdict,
    requests_as_recipient,
    requests_as_source,
    fragments,
    foreign_chars,
    strftime(first_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS first_at,
    strftime(last_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS last_at,
    categories
FROM affected_tenants
ORDER BY tenant_id
