-- question: which files were released, with which digests?
-- inputs:   notice_releases
-- grain:    one row per file of a released letter
-- parameters: none
-- order:    tenant_id, version, file
SELECT tenant_id, version, file, sha256
FROM notice_releases
ORDER BY tenant_id, version, file
