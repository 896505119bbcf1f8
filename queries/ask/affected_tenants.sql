-- question: which tenants are affected, as source or as recipient, and must they be told?
-- inputs:   affected_tenants
-- grain:    one row per tenant
-- parameters: none
-- order:    tenant_id
-- empty:    no tenant takes part in a finding; `ask whom-to-tell` says who was examined at all
SELECT tenant_id, role, notify, verdict, requests_as_recipient, requests_as_source, fragments, foreign_chars, first_at, last_at, categories
FROM affected_tenants
ORDER BY tenant_id
