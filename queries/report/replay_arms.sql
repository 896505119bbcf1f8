-- question: what did the replay find, arm by arm?
-- inputs:   trials
-- grain:    one row per arm
-- parameters: none
-- order:    arm
SELECT
    arm,
    count(DISTINCT fragment_id) AS fragments,
    count(*) AS trials,
    count(*) FILTER (WHERE hit) AS hits,
    count(DISTINCT fragment_id) FILTER (WHERE verdict = 'reproduced') AS reproduced
FROM trials
GROUP BY arm
ORDER BY arm
