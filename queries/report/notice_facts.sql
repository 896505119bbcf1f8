-- question: what did people last set for letters?
-- inputs:   notice_facts
-- grain:    one row per customer (empty: all) and key
-- parameters: none
-- order:    tenant_ref, key
SELECT tenant_ref, key, value, status, basis
FROM notice_facts
QUALIFY row_number() OVER (PARTITION BY tenant_ref, key ORDER BY "at" DESC, name DESC, value DESC) = 1
ORDER BY tenant_ref, key
