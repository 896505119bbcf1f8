-- question: (audit) which fragments are confirmed without an acceptance or a replay that reproduced them?
-- inputs:   verdicts, reviews, replay_verdicts
-- grain:    one row per bad fragment
-- parameters: none
-- order:    subject, problem
SELECT 'fragment ' || verdicts.fragment_id AS subject, 'is confirmed, but nobody accepted it and no replay reproduced it' AS problem
FROM verdicts
WHERE verdicts.verdict = 'confirmed'
  AND NOT EXISTS (
      SELECT 1 FROM reviews WHERE reviews.fragment_id = verdicts.fragment_id AND reviews.decision = 'accept'
  )
  AND NOT EXISTS (
      SELECT 1
      FROM replay_verdicts
      WHERE replay_verdicts.fragment_id = verdicts.fragment_id
        AND (replay_verdicts.verdict LIKE 'reproduced%' OR replay_verdicts.verdict LIKE 'cured%')
  )
ORDER BY subject, problem
