-- question: which requests share something with proven leaks, and hold no foreign text that can be read?
-- inputs:   exposed, joined_requests, fragments
-- grain:    one row per request and relation
-- parameters: none
-- order:    none (INSERT)
INSERT INTO exposures BY NAME
SELECT
    s.request,
    j.request_id,
    j.tenant_id,
    j.received_at,
    j.worker,
    s.relation,
    s.shared,
    s.leaks,
    s.fragment_id,
    s.predicate,
    s.supported,
    j.examinable
FROM exposed AS s
INNER JOIN joined_requests AS j ON j.request = s.request
WHERE NOT EXISTS (SELECT 1 FROM fragments AS f WHERE f.request = s.request)
