-- question: (effect) when were the forward passes on the requests' clock?
-- inputs:   batches, event_clocks
-- grain:    one row per forward pass of a source whose clock is off
-- parameters: none
-- order:    none (UPDATE)
UPDATE batches
SET "at" = batches."at" - to_microseconds(c.offset_us)
FROM event_clocks AS c
WHERE c.offset_us <> 0 AND c.source = batches.source AND c.worker = batches.worker
