-- question: between when did each source tenant's text reach others, and how many of them?
-- inputs:   fragments, verdicts, joined_requests
-- grain:    one row per source tenant
-- parameters: none
-- order:    tenant_id
WITH named AS (
    SELECT
        f.request,
        f.recipient_tenant_id,
        unnest(list_distinct(f.sources)) AS tenant_id
    FROM fragments AS f
    INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE v.verdict IN ('confirmed', 'probable')
)
SELECT
    n.tenant_id,
    count(DISTINCT n.recipient_tenant_id) AS recipients,
    epoch_us(min(coalesce(j.received_at, j.finished_at))) AS first_us,
    epoch_us(max(coalesce(j.finished_at, j.received_at))) AS last_us
FROM named AS n
INNER JOIN joined_requests AS j ON j.request = n.request
GROUP BY n.tenant_id
ORDER BY n.tenant_id
