-- question: (effect) which calls that hold an equal text could be one by their times?
-- inputs:   text_pairs, pair_times; makes timed_pairs and open_pairs
-- grain:    one row per pair of calls
-- parameters: none
-- order:    none
-- An answer may have been given to the wrong call: that is what is looked for. Where only the answer is equal, the prompts
-- are asked.
CREATE OR REPLACE TEMP TABLE timed_pairs AS
WITH placed AS (
    SELECT s.*, t.* EXCLUDE (near, far),
        inward * starts >= -tolerance AND (ends IS NOT NULL OR inward * starts <= 60_000_000 + tolerance) AS starts_inside,
        inward * ends <= tolerance AND (starts IS NOT NULL OR inward * ends >= -60_000_000 - tolerance) AS ends_inside
    FROM text_pairs s
    JOIN pair_times t ON t.near = s.near AND t.far = s.far
),
near_in_time AS (
    SELECT *, coalesce(starts_inside, ends_inside, overlap) IS NOT NULL AS has_time
    FROM placed
    WHERE starts_inside IS NOT FALSE AND ends_inside IS NOT FALSE AND overlap IS NOT FALSE
)
SELECT near, far, near_vantage, far_vantage, by_response, by_prompt, has_time, other_model, other_count
FROM near_in_time
WHERE has_time OR unique_both OR unique_code_points >= 64;
CREATE OR REPLACE TEMP TABLE open_pairs AS
SELECT near, far, near_vantage, far_vantage, NOT by_prompt AS ask_prompts
FROM timed_pairs
