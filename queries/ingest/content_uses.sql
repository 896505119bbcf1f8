-- question: (effect) which texts does each call use at each vantage?
-- inputs:   record_contents, record_groups, request_rows
-- grain:    one row per use of a text by a record
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE content_uses AS
SELECT q.key, c.side, c.field, c.role, c.ordinal, c.content, g.record
FROM record_contents c
JOIN record_groups g ON g.record = c.record
JOIN request_rows q ON q.call = g.call
