-- question: (audit) which named sources are the recipient itself, or came after the response was finished?
-- inputs:   fragments, appearances, joined_requests
-- grain:    one row per impossible appearance
-- parameters: none
-- order:    subject, problem
SELECT
    'fragment ' || fragments.fragment_id || ' rank ' || appearances.rank AS subject,
    CASE
        WHEN source.received_at > recipient.finished_at THEN 'the source was received after the recipient finished'
        ELSE 'the source is the recipient''s own tenant'
    END AS problem
FROM appearances
JOIN fragments USING (fragment_id)
JOIN joined_requests AS source ON source.request = appearances.request
JOIN joined_requests AS recipient ON recipient.request = fragments.request
WHERE appearances.named
  AND (source.received_at > recipient.finished_at OR source.isolation_unit = recipient.isolation_unit)
ORDER BY subject, problem
