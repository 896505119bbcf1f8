-- question: (effect) let one response use another text, in a copy of the case
-- inputs:   request_contents
-- grain:    one row per use of the old text in that field
-- parameters: request, field, old (content key), new (content key)
-- order:    none
UPDATE request_contents
SET content = $new
WHERE request = $request AND field = $field AND side = 'response' AND content = $old
