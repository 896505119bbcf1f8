-- question: when did the fault begin and end over all workers?
-- inputs:   fault_window
-- grain:    one row per end
-- parameters: none
-- order:    bound
SELECT
    bound,
    strftime("at", '%Y-%m-%dT%H:%M:%S.%fZ') AS moment,
    strftime(low, '%Y-%m-%dT%H:%M:%S.%fZ') AS low,
    strftime(high, '%Y-%m-%dT%H:%M:%S.%fZ') AS high,
    affected,
    responses,
    event_kind,
    strftime(event_at, '%Y-%m-%dT%H:%M:%S.%fZ') AS event_at,
    finding
FROM fault_window
WHERE worker IS NULL
ORDER BY bound
