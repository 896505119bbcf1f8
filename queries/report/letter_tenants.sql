-- question: who gets a letter, and how is that customer addressed?
-- inputs:   affected_tenants, tenants
-- grain:    one row per tenant to be told or to be reviewed
-- parameters: none
-- order:    tenant_id
WITH addresses AS (
    SELECT
        tenant_id,
        min(legal_name) AS legal_name,
        min(contact) AS contact
    FROM tenants
    GROUP BY tenant_id
)
SELECT
    a.tenant_id,
    a.role,
    a.notify,
    a.verdict,
    t.legal_name,
    t.contact
FROM affected_tenants AS a
LEFT JOIN addresses AS t ON t.tenant_id = a.tenant_id
WHERE a.notify IN ('yes', 'review')
ORDER BY a.tenant_id
