-- question: (effect) forget the versions of a letter of which none was released
-- inputs:   notices
-- grain:    one row per version
-- parameters: tenant (a tenant id)
-- order:    none (DELETE)
DELETE FROM notices
WHERE tenant_id = $tenant
