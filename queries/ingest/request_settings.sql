-- question: (effect) how was each call's answer sampled, and which records hold its tokens and its prompt's, at each vantage?
-- inputs:   record_settings, record_groups, request_rows
-- grain:    one row per call x vantage that tells one of them
-- parameters: none
-- order:    key
INSERT INTO request_settings BY NAME
SELECT
    q.key,
    arg_min(s.sampling, s.record) AS sampling,
    min(s.record) FILTER (WHERE s.input_ids IS NOT NULL) AS input,
    max(s.record) FILTER (WHERE s.output_ids IS NOT NULL) AS output
FROM record_settings s
JOIN record_groups g ON g.record = s.record
JOIN request_rows q ON q.call = g.call
GROUP BY q.key
ORDER BY q.key
