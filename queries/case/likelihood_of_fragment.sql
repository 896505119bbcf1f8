-- question: whose context explains the response that a fragment stands in?
-- inputs:   likelihoods, joined_requests
-- grain:    one row, or none where it was not scored
-- parameters: fragment
-- order:    none
SELECT
    l.finding,
    j.request_id AS source_request_id,
    l.tokens,
    l.part_start,
    l.part_end,
    l.total,
    l.needed,
    l.margin,
    l.wrong_sources,
    l.rank,
    l.p_value
FROM likelihoods AS l
LEFT JOIN joined_requests AS j ON j.request = l.source
WHERE l.fragment_id = $fragment
