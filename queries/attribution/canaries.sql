-- question: which canaries does the case hold, and with whom were they planted?
-- inputs:   canaries
-- grain:    one row per canary
-- parameters: none
-- order:    line, canary
SELECT
    canary,
    tenant_id,
    label,
    line
FROM canaries
ORDER BY line, canary
