-- question: which fragments are there, with their verdicts, for out/fragments.jsonl?
-- inputs:   fragments, verdicts
-- grain:    one row per fragment, excluded ones included
-- parameters: none
-- order:    recipient request, field, start, end, fragment_id
SELECT
    f.fragment_id,
    f.recipient_request_id,
    f.recipient_tenant_id,
    f.field,
    f."start",
    f."end",
    f.kind,
    v.verdict,
    f.bits,
    f.q_value,
    list_sort(f.sources) AS sources,
    list_sort(f.exclusions_tried) AS exclusions_tried
FROM fragments AS f
INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
ORDER BY f.recipient_request_id, f.field, f."start", f."end", f.fragment_id
