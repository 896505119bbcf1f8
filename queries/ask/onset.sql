-- question: when did the fault begin and end, with which interval and which engine event inside it?
-- inputs:   fault_window
-- grain:    one row per worker (null: all together) and end
-- parameters: none
-- order:    all together first; worker, onset before end
-- empty:    when the fault began was not estimated: the timeline has not run
SELECT
    worker,
    bound,
    "at",
    low,
    high,
    responses,
    affected,
    log_odds,
    event_kind,
    event_at,
    finding
FROM fault_window
ORDER BY worker NULLS FIRST, bound DESC
