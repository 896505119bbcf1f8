-- question: which fragments wait for a person's decision, the strongest first?
-- inputs:   fragments, verdicts, reviews, standing_reviews
-- grain:    one row per fragment without a decision that counts
-- parameters: none
-- order:    net_bits descending, fragment_id
-- empty:    every fragment has a decision, or there is no fragment
-- `earlier`: a decision that no longer counts, on this passage with other sources, or on one in its place whose
-- characters have changed since.
WITH waiting AS (
    SELECT fragments.*
    FROM fragments
    ANTI JOIN standing_reviews USING (fragment_id)
),
gone AS (
    SELECT reviews.*
    FROM reviews
    ANTI JOIN fragments USING (fragment_id)
),
lapsed AS (
    SELECT
        w.fragment_id,
        r."at",
        r.name,
        r.decision,
        r.decision || ' by ' || r.name || ', when other sources were named' AS earlier
    FROM waiting AS w
    INNER JOIN reviews AS r ON r.fragment_id = w.fragment_id
    UNION ALL
    SELECT
        w.fragment_id,
        g."at",
        g.name,
        g.decision,
        g.decision || ' by ' || g.name || ' on ' || g.fragment_id || ', characters ' || g."start" || ' to ' || g."end"
        || ', which have changed since' AS earlier
    FROM waiting AS w
    INNER JOIN gone AS g
        ON g.recipient_request_id = w.recipient_request_id
        AND g.field = w.field
        AND g."start" < w."end"
        AND w."start" < g."end"
),
last_lapsed AS (
    SELECT fragment_id, earlier
    FROM lapsed
    QUALIFY row_number() OVER (PARTITION BY fragment_id ORDER BY "at" DESC, name DESC, decision DESC, earlier) = 1
)
SELECT
    w.fragment_id,
    w.recipient_request_id,
    w.field,
    w."start",
    w."end",
    w.kind,
    coalesce(v.verdict, w.machine_verdict) AS verdict,
    w.net_bits,
    w.sources,
    l.earlier
FROM waiting AS w
LEFT JOIN verdicts AS v ON v.fragment_id = w.fragment_id
LEFT JOIN last_lapsed AS l ON l.fragment_id = w.fragment_id
ORDER BY w.net_bits DESC, w.fragment_id
