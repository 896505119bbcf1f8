-- question: (effect) by what was each call put together?
-- inputs:   join_links, request_roots
-- grain:    one row per call x pair of its vantages that something joins
-- parameters: none
-- order:    request, near_vantage, far_vantage
INSERT INTO request_joins BY NAME
SELECT n.request, l.near AS near_key, l.far AS far_key, l.near_vantage, l.far_vantage, l.basis, l.near_kind, l.far_kind,
    l.form
FROM join_links l
JOIN request_roots n ON n.key = l.near
JOIN request_roots f ON f.key = l.far AND f.request = n.request
ORDER BY n.request, l.near_vantage, l.far_vantage
