-- question: when did the fault begin and end, all together and on each worker?
-- inputs:   fault_window
-- grain:    one row per worker and end
-- parameters: none
-- order:    all together first; worker, onset before end
SELECT worker, bound, epoch_us("at") AS at_us, epoch_us(low) AS low_us, epoch_us(high) AS high_us, affected, responses,
    event_kind, epoch_us(event_at) AS event_us, finding
FROM fault_window
ORDER BY worker NULLS FIRST, bound DESC
