-- question: which rows of `event_clocks` go to out/event_clocks.parquet?
-- inputs:   event_clocks
-- grain:    as the table
-- parameters: none
-- order:    worker, source, evidence
SELECT *
FROM event_clocks
ORDER BY worker, source, evidence
