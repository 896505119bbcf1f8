-- question: which matching runs of one response were set aside, by which rule and on what grounds?
-- inputs:   exclusions
-- grain:    one row per excluded run
-- parameters: request
-- order:    field, start, end, rule
-- empty:    nothing in this response was set aside, or there is no such request
SELECT field, "start", "end", rule, detail, holders, bits
FROM exclusions
WHERE recipient_request_id = $request
ORDER BY field, "start", "end", rule, detail
