-- question: (audit) which uses of a text lack their request, their vantage or the text?
-- inputs:   request_contents, joined_requests, requests, contents
-- grain:    one row per orphan use
-- parameters: none
-- order:    subject, problem
SELECT
    'request ' || request_contents.request || ' ' || request_contents.field AS subject,
    CASE
        WHEN joined_requests.request IS NULL THEN 'the request is missing'
        WHEN requests.key IS NULL THEN 'the vantage is missing'
        ELSE 'the content is missing'
    END AS problem
FROM request_contents
LEFT JOIN joined_requests USING (request)
LEFT JOIN requests ON requests.key = request_contents.key AND requests.request = request_contents.request
LEFT JOIN contents ON contents.content = request_contents.content
WHERE joined_requests.request IS NULL OR requests.key IS NULL OR contents.content IS NULL
ORDER BY subject, problem
