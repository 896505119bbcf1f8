-- question: (effect) the table of texts that two vantages log differently
-- inputs:   divergent_places, compared_texts, contents
-- grain:    one row per call x side x field x pair of neighbouring vantages
-- parameters: none
-- order:    request, side, field, vantage_a, vantage_b
INSERT INTO divergences BY NAME
SELECT p.request, p.side, p.field, p.vantage_a, p.vantage_b, c.kind, c.first_at,
    coalesce(a.code_points, 0) AS code_points_a, coalesce(b.code_points, 0) AS code_points_b,
    p.content_a, p.content_b
FROM divergent_places p
JOIN compared_texts c ON c.pair = p.pair
LEFT JOIN contents a ON a.content = p.content_a
LEFT JOIN contents b ON b.content = p.content_b
ORDER BY p.request, p.side, p.field, p.vantage_a, p.vantage_b
