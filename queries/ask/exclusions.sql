-- question: how much matching text was set aside, and by which rule?
-- inputs:   exclusions
-- grain:    one row per rule
-- parameters: none
-- order:    rule
-- empty:    no matching text was set aside
SELECT
    rule,
    count(*) AS runs,
    count(DISTINCT request) AS requests,
    count(DISTINCT recipient_tenant_id) AS tenants,
    CAST(sum("end" - "start") AS BIGINT) AS code_points,
    max(holders) AS most_holders,
    max(bits) AS most_bits
FROM exclusions
GROUP BY rule
ORDER BY rule
