-- question: which versions of letters are there, and which were released?
-- inputs:   notices, notice_releases
-- grain:    one row per customer and version
-- parameters: none
-- order:    tenant_id, version
SELECT
    n.tenant_id,
    n.version,
    n.kind,
    n.digest,
    count(r.file) > 0 AS released
FROM notices AS n
LEFT JOIN notice_releases AS r ON r.tenant_id = n.tenant_id AND r.version = n.version
GROUP BY n.tenant_id, n.version, n.kind, n.digest
ORDER BY n.tenant_id, n.version
