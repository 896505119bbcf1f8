-- question: (effect) how was each call's answer sampled, and which record holds its tokens, at each vantage?
-- inputs:   record_settings, record_groups, request_rows
-- grain:    one row per call x vantage that tells one of the two
-- parameters: none
-- order:    key
INSERT INTO request_settings BY NAME
SELECT
    q.key,
    arg_min(s.sampling, s.record) AS sampling,
    max(s.record) FILTER (WHERE s.output_ids IS NOT NULL) AS output
FROM record_settings s
JOIN record_groups g ON g.record = s.record
JOIN request_rows q ON q.call = g.call
GROUP BY q.key
ORDER BY q.key
