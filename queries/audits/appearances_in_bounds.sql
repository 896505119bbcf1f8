-- question: (audit) which appearances lack their fragment or do not lie inside a text of their source?
-- inputs:   appearances, fragments, contents, request_contents
-- grain:    one row per bad appearance
-- parameters: none
-- order:    subject, problem
SELECT 'fragment ' || appearances.fragment_id || ' rank ' || appearances.rank AS subject, 'has no fragment' AS problem
FROM appearances
ANTI JOIN fragments USING (fragment_id)
UNION ALL
SELECT 'fragment ' || appearances.fragment_id || ' rank ' || appearances.rank, 'lies outside its text, or the text is missing'
FROM appearances
LEFT JOIN contents USING (content)
WHERE contents.content IS NULL
   OR appearances."start" < 0
   OR appearances."end" <= appearances."start"
   OR appearances."end" > contents.code_points
UNION ALL
SELECT 'fragment ' || appearances.fragment_id || ' rank ' || appearances.rank, 'the text is not used in that field of its source'
FROM appearances
WHERE NOT EXISTS (
    SELECT 1
    FROM request_contents
    WHERE request_contents.request = appearances.request
      AND request_contents.content = appearances.content
      AND request_contents.field = appearances.field
      AND request_contents.side = appearances.side
)
ORDER BY subject, problem
