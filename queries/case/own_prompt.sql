-- question: what did the request itself send?
-- inputs:   request_contents, contents
-- grain:    one row per text of its prompt
-- parameters: request
-- order:    content
SELECT DISTINCT
    contents.content,
    contents.text
FROM request_contents AS uses
INNER JOIN contents
    ON uses.content = contents.content
WHERE uses.request = $request AND uses.side = 'prompt'
ORDER BY contents.content
