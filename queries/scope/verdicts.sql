-- question: what is the verdict of each fragment, from the machine's verdict, the last review and the replay trials?
-- inputs:   fragments, reviews, standing_reviews, trials
-- grain:    one row per fragment
-- parameters: none
-- order:    none (INSERT)
-- The only place where a verdict is computed. A person's rejection outweighs everything; an acceptance or a reproduced
-- trial raises `probable` to `confirmed` and never lifts anything weaker; `unsure` leaves the machine's verdict. A review
-- of other sources than those named now counts for nothing until it is repeated.
INSERT INTO verdicts BY NAME
WITH reviewed AS (
    SELECT DISTINCT fragment_id
    FROM reviews
),
reproduced AS (
    SELECT DISTINCT fragment_id
    FROM trials
    WHERE verdict = 'reproduced'
)
SELECT
    f.fragment_id,
    CASE
        WHEN r.decision = 'reject' THEN 'excluded'
        WHEN f.machine_verdict = 'probable' AND r.decision = 'accept' THEN 'confirmed'
        WHEN f.machine_verdict = 'probable' AND t.fragment_id IS NOT NULL THEN 'confirmed'
        ELSE f.machine_verdict
    END AS verdict,
    CASE
        WHEN r.decision = 'reject' AND t.fragment_id IS NOT NULL THEN 'review: reject, against a reproduced trial'
        WHEN r.decision = 'reject' THEN 'review: reject'
        WHEN f.machine_verdict = 'probable' AND r.decision = 'accept' AND t.fragment_id IS NOT NULL
            THEN 'review: accept; trial: reproduced'
        WHEN f.machine_verdict = 'probable' AND r.decision = 'accept' THEN 'review: accept'
        WHEN f.machine_verdict = 'probable' AND t.fragment_id IS NOT NULL THEN 'trial: reproduced'
        WHEN r.decision IS NOT NULL THEN 'machine; review: ' || r.decision
        WHEN d.fragment_id IS NOT NULL THEN 'machine; the review was of other sources and does not count'
        ELSE 'machine'
    END AS basis
FROM fragments AS f
LEFT JOIN standing_reviews AS r ON r.fragment_id = f.fragment_id
LEFT JOIN reviewed AS d ON d.fragment_id = f.fragment_id
LEFT JOIN reproduced AS t ON t.fragment_id = f.fragment_id
