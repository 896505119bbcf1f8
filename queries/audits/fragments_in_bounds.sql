-- question: (audit) which fragments do not lie inside a response text of their recipient?
-- inputs:   fragments, contents, request_contents
-- grain:    one row per bad fragment
-- parameters: none
-- order:    subject, problem
SELECT
    'fragment ' || fragments.fragment_id AS subject,
    CASE
        WHEN contents.content IS NULL THEN 'its content is missing'
        WHEN fragments."start" < 0 OR fragments."end" <= fragments."start" THEN 'it is empty or starts before 0'
        ELSE 'it ends after the text'
    END AS problem
FROM fragments
LEFT JOIN contents USING (content)
WHERE contents.content IS NULL
   OR fragments."start" < 0
   OR fragments."end" <= fragments."start"
   OR fragments."end" > contents.code_points
UNION ALL
SELECT 'fragment ' || fragments.fragment_id, 'its content is not used in that response field'
FROM fragments
WHERE NOT EXISTS (
    SELECT 1
    FROM request_contents
    WHERE request_contents.request = fragments.request
      AND request_contents.content = fragments.content
      AND request_contents.field = fragments.field
      AND request_contents.side = 'response'
)
ORDER BY subject, problem
