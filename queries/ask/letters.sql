-- question: which letters were drafted and released, in which versions, by whom, and with which fields unknown?
-- inputs:   notices, notice_releases
-- grain:    one row per customer and version
-- parameters: none
-- order:    tenant_id, version
SELECT
    n.tenant_id,
    n.version,
    n.kind,
    count(r.file) > 0 AS released,
    any_value(r."at") AS released_at,
    any_value(r.prepared_by) AS prepared_by,
    any_value(r.approved_by) AS approved_by,
    any_value(r.acknowledged) AS acknowledged_unknown
FROM notices AS n
LEFT JOIN notice_releases AS r ON r.tenant_id = n.tenant_id AND r.version = n.version
GROUP BY n.tenant_id, n.version, n.kind
ORDER BY n.tenant_id, n.version
