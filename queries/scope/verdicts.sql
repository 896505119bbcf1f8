-- question: what is the verdict of each fragment, from the machine's verdict, the last review and the replays?
-- inputs:   fragments, reviews, standing_reviews, replay_verdicts
-- grain:    one row per fragment
-- parameters: none
-- order:    none (INSERT)
-- The only place where a verdict is computed. A person's rejection outweighs everything; an acceptance or a replay that
-- reproduced the leak raises `probable` to `confirmed` and never lifts anything weaker; `unsure` leaves the machine's
-- verdict. A replay in which the text came without the source (model memory) lifts nothing, whatever another one showed. A
-- review of other sources than those named now counts for nothing until it is repeated.
INSERT INTO verdicts BY NAME
WITH reviewed AS (
    SELECT DISTINCT fragment_id
    FROM reviews
),
outcomes AS (
    SELECT
        fragment_id,
        min(verdict || CASE text WHEN 'surrogate' THEN ' with surrogate texts' ELSE '' END) FILTER (
            WHERE verdict IN ('reproduced', 'reproduced_in_company') OR verdict LIKE 'cured\_by\_%' ESCAPE '\'
        ) AS reproduced,
        bool_or(verdict = 'model_memory') AS memory
    FROM replay_verdicts
    GROUP BY fragment_id
),
replayed AS (
    SELECT
        fragment_id,
        CASE WHEN memory THEN NULL ELSE reproduced END AS reproduced,
        memory
    FROM outcomes
)
SELECT
    f.fragment_id,
    CASE
        WHEN r.decision = 'reject' THEN 'excluded'
        WHEN f.machine_verdict = 'probable' AND r.decision = 'accept' THEN 'confirmed'
        WHEN f.machine_verdict = 'probable' AND t.reproduced IS NOT NULL THEN 'confirmed'
        ELSE f.machine_verdict
    END AS verdict,
    CASE
        WHEN r.decision = 'reject' AND t.reproduced IS NOT NULL THEN 'review: reject, against a reproduced trial'
        WHEN r.decision = 'reject' THEN 'review: reject'
        WHEN f.machine_verdict = 'probable' AND r.decision = 'accept' AND t.reproduced IS NOT NULL
            THEN 'review: accept; trial: ' || t.reproduced
        WHEN f.machine_verdict = 'probable' AND r.decision = 'accept' AND t.memory
            THEN 'review: accept, against trials that call it the model''s memory'
        WHEN f.machine_verdict = 'probable' AND r.decision = 'accept' THEN 'review: accept'
        WHEN f.machine_verdict = 'probable' AND t.reproduced IS NOT NULL THEN 'trial: ' || t.reproduced
        WHEN t.memory AND r.decision IS NOT NULL THEN 'machine; review: ' || r.decision || '; trial: model_memory'
        WHEN t.memory THEN 'machine; trial: model_memory'
        WHEN r.decision IS NOT NULL THEN 'machine; review: ' || r.decision
        WHEN d.fragment_id IS NOT NULL THEN 'machine; the review was of other sources and does not count'
        ELSE 'machine'
    END AS basis
FROM fragments AS f
LEFT JOIN standing_reviews AS r ON r.fragment_id = f.fragment_id
LEFT JOIN reviewed AS d ON d.fragment_id = f.fragment_id
LEFT JOIN replayed AS t ON t.fragment_id = f.fragment_id
