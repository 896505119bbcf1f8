-- question: what was set aside in the same response field as one fragment?
-- inputs:   exclusions
-- grain:    one row per excluded run
-- parameters: request, field
-- order:    start, end, rule
SELECT "start", "end", rule, detail, holders, bits
FROM exclusions
WHERE request = $request AND field = $field
ORDER BY "start", "end", rule, detail
