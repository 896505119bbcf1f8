-- question: what have people decided, and does it still count?
-- inputs:   reviews, standing_reviews, fragments
-- grain:    one row per decision
-- parameters: none
-- order:    at, fragment_id, name, decision
-- empty:    nobody has decided on a fragment yet: `forensics review CASE`
-- `state`: counts | replaced by a later one | other sources are named now | the fragment is gone or has changed
SELECT
    r."at",
    r.name,
    r.fragment_id,
    r.decision,
    r.reason,
    f.fragment_id IS NOT NULL AS found,
    CASE
        WHEN f.fragment_id IS NULL THEN 'the fragment is gone or has changed'
        WHEN s."at" = r."at" AND s.name = r.name AND s.decision = r.decision THEN 'counts'
        WHEN r.sources IS NOT NULL AND list_sort(r.sources) <> list_sort(f.sources) THEN 'other sources are named now'
        ELSE 'replaced by a later one'
    END AS state
FROM reviews AS r
LEFT JOIN fragments AS f ON f.fragment_id = r.fragment_id
LEFT JOIN standing_reviews AS s ON s.fragment_id = r.fragment_id
ORDER BY r."at", r.fragment_id, r.name, r.decision
