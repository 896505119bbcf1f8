-- question: what did the recipient of a fragment receive, in text and in tokens, and where does the fragment end in it?
-- inputs:   fragments, contents, requests, request_settings, record_settings, divergences
-- grain:    one row
-- parameters: fragment
-- order:    none
-- Tokens only where the engine logged some and knew the very text that the fragment stands in.
WITH asked AS (
    SELECT f.request, f.field, f."end", c.text
    FROM fragments AS f
    INNER JOIN contents AS c ON c.content = f.content
    WHERE f.fragment_id = $fragment
),
tokens AS (
    SELECT q.request, min(s.output) AS output
    FROM requests AS q
    INNER JOIN request_settings AS s ON s.key = q.key
    INNER JOIN asked AS a ON a.request = q.request
    WHERE s.output IS NOT NULL
      AND a.field = 'choices[0].content'
      AND NOT EXISTS (
          SELECT 1
          FROM divergences AS d
          WHERE d.request = q.request AND d.side = 'response' AND d.kind NOT IN ('whitespace', 'special_tokens')
      )
    GROUP BY q.request
)
SELECT a.text, a."end", r.output_ids
FROM asked AS a
LEFT JOIN tokens AS t ON t.request = a.request
LEFT JOIN record_settings AS r ON r.record = t.output
