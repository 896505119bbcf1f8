-- question: do the clocks of the engines' events agree with those of the requests, and what was taken off?
-- inputs:   event_clocks
-- grain:    one row per source of times x worker
-- parameters: none
-- order:    worker, source
-- empty:    the logs hold no engine events with times of their own
SELECT worker, source, offset_us / 1e6 AS offset_seconds, residual_us / 1e6 AS residual_seconds, n, basis
FROM event_clocks
ORDER BY worker, source
