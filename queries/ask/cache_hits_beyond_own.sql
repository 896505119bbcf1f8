-- question: which requests took more from the prefix cache than any request of their own namespace had put there?
-- inputs:   cache_hits, joined_requests
-- grain:    one row per such request
-- parameters: none
-- order:    excess_tokens (most first), request_id
-- empty:    no request took more from the prefix cache than its own prefixes explain, or no cached tokens are logged
-- By `expected_basis`: kv_events is what the cache itself says it held, and a proof; tokens and text are what the namespace
-- had sent before, exactly or in proportion to tokens: such a hit may come from before the log. Whose prefix it was is named
-- only where the cache began empty in the log, or says that it held it. Without salts all customers share one namespace.
SELECT
    j.request_id,
    j.tenant_id,
    h.worker,
    h."at",
    j.prompt_tokens,
    h.cached_tokens,
    h.expected_tokens,
    h.excess_tokens,
    h.expected_basis,
    m.request_id AS matched_request_id,
    m.tenant_id AS matched_tenant_id,
    h.own_namespace,
    h.basis
FROM cache_hits AS h
INNER JOIN joined_requests AS j ON j.request = h.request
LEFT JOIN joined_requests AS m ON m.request = h.matched_request
WHERE h.excess_tokens > 0
ORDER BY h.excess_tokens DESC, j.request_id
