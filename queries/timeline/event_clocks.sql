-- question: (effect) what do the clocks of the engine's events show more than the clock of the requests?
-- inputs:   residencies, requests, joined_requests, call_names
-- grain:    one row per source of times x worker with calls to compare
-- parameters: none
-- order:    none (INSERT)
-- A call runs after it was received and ends before its answer is finished: an event's clock that shows it so is left alone
-- (same_clock). A call that was cut off tells nothing, since its caller left before the engine ended it; nor does one whose
-- name another shares. Else the offset is the median of what puts the run into the middle of its call; residual: median absolute
-- deviation from it. Fewer than ten calls move nothing (too_few). Times in whole seconds, or tied to the day by stamps in whole seconds, may be off by one.
INSERT INTO event_clocks BY NAME
WITH precision_of AS (
    SELECT request, bool_or(time_precision = 's') AS whole_seconds
    FROM requests
    GROUP BY request
),
couples AS (
    SELECT
        r.source,
        r.worker,
        epoch_us(r."start") - epoch_us(s."start") AS after_receipt,
        epoch_us(r."end") - epoch_us(s."end") AS after_finish,
        p.whole_seconds OR r.confidence <= 0.8 AS coarse
    FROM residencies AS r
    INNER JOIN residencies AS s ON s.request = r.request AND s.phase = 'serve' AND s."end" > s."start"
    INNER JOIN precision_of AS p ON p.request = r.request
    INNER JOIN joined_requests AS j ON j.request = r.request
    WHERE r.phase IN ('run', 'slot')
        AND r.request NOT IN (SELECT request FROM call_names WHERE repeated)
        AND NOT regexp_matches(coalesce(j.status, ''), '^[45][0-9][0-9]$')
        AND NOT regexp_matches(lower(coalesce(j.finish_reason, '')), 'abort|^cancel')
),
bounds AS (
    SELECT
        source,
        worker,
        quantile_cont(after_finish, 0.95) AS least,
        quantile_cont(after_receipt, 0.05) AS most,
        median((after_receipt + after_finish) / 2) AS middle,
        mad((after_receipt + after_finish) / 2) AS spread,
        CASE WHEN bool_or(coarse) THEN 1000000 ELSE 20000 END AS tolerance,
        count(*) AS n
    FROM couples
    GROUP BY source, worker
)
SELECT
    source,
    worker,
    NULL::INTEGER AS evidence,
    CASE WHEN n < 10 OR (least <= tolerance AND most >= -tolerance) THEN 0 ELSE round(middle)::BIGINT END AS offset_us,
    round(spread)::BIGINT AS residual_us,
    n,
    CASE
        WHEN least <= tolerance AND most >= -tolerance THEN 'same_clock'
        WHEN n < 10 THEN 'too_few'
        ELSE 'requests'
    END AS basis
FROM bounds
