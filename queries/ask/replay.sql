-- question: does a replay reproduce the leak, at what rate, under which conditions, and does it stop with the fix?
-- inputs:   trials
-- grain:    one row per arm
-- parameters: none
-- order:    arm
-- empty:    no replay was made: these logs alone cannot say whether the leak can be reproduced (`forensics replay plan`)
SELECT
    arm,
    count(DISTINCT fragment_id) AS fragments,
    count(*) AS trials,
    count(*) FILTER (WHERE hit) AS hits,
    count(*) FILTER (WHERE hit) / count(*) AS rate,
    count(DISTINCT fragment_id) FILTER (WHERE verdict = 'reproduced') AS fragments_reproduced
FROM trials
GROUP BY arm
ORDER BY arm
