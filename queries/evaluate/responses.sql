-- question: how many requests have a response that could be examined?
-- inputs:   joined_requests
-- grain:    one row: the count
-- parameters: none
-- order:    none
SELECT count(*) FROM joined_requests WHERE response_state IN ('full', 'truncated', 'partial_stream');
