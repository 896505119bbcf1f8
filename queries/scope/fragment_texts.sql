-- question: what is the text of each fragment that is not excluded?
-- inputs:   fragments, verdicts, contents
-- grain:    one row per fragment that is not excluded
-- parameters: none
-- order:    fragment_id
-- substring counts code points, as the offsets do.
SELECT
    f.fragment_id,
    substring(c.text, f."start" + 1, f."end" - f."start") AS passage,
    f."start",
    f."end"
FROM fragments AS f
INNER JOIN verdicts AS v ON v.fragment_id = f.fragment_id
INNER JOIN contents AS c ON c.content = f.content
WHERE v.verdict <> 'excluded'
ORDER BY f.fragment_id
