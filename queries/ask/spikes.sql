-- question: which leaks were planted in a copy of the case, and was each found?
-- inputs:   control_spikes
-- grain:    one row per planted passage
-- parameters: none
-- order:    round, request_id, field
-- empty:    no leak was planted: `forensics controls CASE` does it in a copy of the case
SELECT
    round, kind, length, form, side, near, script, request_id, field, "start", "end", source_request_id,
    source_tenant_id, reported, probable, right_tenant, wrong_tenant, kinds_found
FROM control_spikes
ORDER BY round, request_id, field
