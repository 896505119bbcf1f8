-- question: which pairs of texts differ between vantages?
-- inputs:   divergent_places, contents
-- grain:    one row per distinct pair of texts and side
-- parameters: first, last (numbers of pairs)
-- order:    pair
WITH pairs AS (
    SELECT DISTINCT pair, side, content_a, content_b
    FROM divergent_places
    WHERE pair BETWEEN $first AND $last
)
SELECT p.pair, p.side, a.text AS text_a, b.text AS text_b
FROM pairs p
LEFT JOIN contents a ON a.content = p.content_a
LEFT JOIN contents b ON b.content = p.content_b
ORDER BY p.pair
