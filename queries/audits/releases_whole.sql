-- question: (audit) which letters were released by one person alone, or without a draft on record?
-- inputs:   notice_releases, notices
-- grain:    one row per bad letter
-- parameters: none
-- order:    subject, problem
SELECT DISTINCT 'letter ' || version || ' of a customer' AS subject, 'was prepared and approved by the same person' AS problem
FROM notice_releases
WHERE lower(trim(prepared_by)) = lower(trim(approved_by)) OR trim(prepared_by) = '' OR trim(approved_by) = ''
UNION
SELECT 'letter ' || r.version || ' of a customer', 'was released but never drafted'
FROM notice_releases AS r
ANTI JOIN notices AS n ON n.tenant_id = r.tenant_id AND n.version = r.version
ORDER BY subject, problem
