-- question: which rows of `engine_events` go to out/engine_events.parquet?
-- inputs:   engine_events
-- grain:    as the table
-- parameters: none
-- order:    evidence, at, worker, kind, request_id, slot, batch, iteration, counts, attributes
SELECT *
FROM engine_events
ORDER BY evidence, "at", worker, kind, request_id, slot, batch, iteration, counts, attributes
