-- question: (audit) which texts do not have the length that is recorded for them?
-- inputs:   contents
-- grain:    one row per bad content
-- parameters: none
-- order:    subject, problem
SELECT 'content ' || content AS subject, length(text) || ' code points, ' || code_points || ' recorded' AS problem
FROM contents
WHERE length(text) <> code_points OR strlen(text) <> bytes
ORDER BY subject, problem
