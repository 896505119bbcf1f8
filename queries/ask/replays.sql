-- question: what did replays say of each leak, arm by arm?
-- inputs:   replay_verdicts, trials
-- grain:    one row per plan, leak and arm
-- parameters: none
-- order:    plan_id, fragment_id, arm
-- empty:    no replay was made: these logs alone cannot say whether the leak can be reproduced (`forensics replay plan`)
SELECT
    v.plan_id,
    v.fragment_id,
    v.verdict,
    t.arm,
    count(*) FILTER (WHERE t.valid) AS trials,
    count(*) FILTER (WHERE t.valid AND t.hit) AS hits,
    count(*) FILTER (WHERE t.valid AND t.from_source) AS from_source,
    count(*) FILTER (WHERE t.valid AND t.absent) AS not_sent,
    count(*) FILTER (WHERE NOT t.valid) AS failed,
    round(median(t.milliseconds) / 1000, 1) AS seconds
FROM replay_verdicts AS v
INNER JOIN trials AS t ON t.plan_id = v.plan_id AND t.fragment_id = v.fragment_id
GROUP BY ALL
ORDER BY v.plan_id, v.fragment_id, t.arm
