-- question: (effect) what are the stays on the requests' clock?
-- inputs:   residencies, event_clocks
-- grain:    one row per stay of a source whose clock is off
-- parameters: none
-- order:    none (UPDATE)
UPDATE residencies
SET
    "start" = residencies."start" - to_microseconds(c.offset_us),
    "end" = residencies."end" - to_microseconds(c.offset_us)
FROM event_clocks AS c
WHERE c.offset_us <> 0 AND residencies.phase <> 'serve'
    AND c.source = residencies.source AND c.worker = residencies.worker
