-- question: whose context explains the responses that were scored on a live server?
-- inputs:   likelihoods, joined_requests
-- grain:    one row per scored fragment
-- parameters: none
-- order:    fragment_id
-- empty:    no response was scored: these logs alone cannot say how likely its words were (`forensics replay score`)
SELECT
    l.fragment_id,
    l.finding,
    j.request_id AS source_request_id,
    j.tenant_id AS source_tenant_id,
    l.tokens,
    l.part_start,
    l.part_end,
    round(l.total, 1) AS nats,
    round(l.needed, 1) AS needed,
    round(l.margin, 1) AS margin,
    l.wrong_sources,
    l.rank,
    l.p_value,
    round(l.own_per_token, 2) AS own_per_token,
    l.tokens_basis,
    l.model
FROM likelihoods AS l
LEFT JOIN joined_requests AS j ON j.request = l.source
ORDER BY l.fragment_id
