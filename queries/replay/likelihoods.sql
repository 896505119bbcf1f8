-- question: whose context explains the response of each fragment that was scored?
-- inputs:   likelihoods, joined_requests
-- grain:    one row per scored fragment
-- parameters: none
-- order:    fragment_id
SELECT
    l.fragment_id,
    l.finding,
    j.request_id AS source_request_id,
    j.tenant_id AS source_tenant_id,
    l.tokens,
    l.tokens_basis,
    l.part_start,
    l.part_end,
    l.total,
    l.needed,
    l.runner_up,
    l.margin,
    l.wrong_sources,
    l.rank,
    l.p_value,
    l.own_per_token,
    l.model,
    l.curve
FROM likelihoods AS l
LEFT JOIN joined_requests AS j ON j.request = l.source
ORDER BY l.fragment_id
