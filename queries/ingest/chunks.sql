-- question: (effect) which timed chunks does each call have at each vantage?
-- inputs:   record_chunks, record_groups, request_rows
-- grain:    one row per chunk x call x vantage
-- parameters: none
-- order:    key, choice, seq, record
INSERT INTO chunks BY NAME
SELECT q.key, c.choice, c.seq, c."at", c."start", c."end"
FROM record_chunks c
JOIN record_groups g ON g.record = c.record
JOIN request_rows q ON q.call = g.call
ORDER BY q.key, c.choice, c.seq, c.record
