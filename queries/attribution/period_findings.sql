-- question: how many examined responses carry findings before the fault began and after it was fixed, as declared?
-- inputs:   joined_requests, fragments
-- grain:    one row per period with a declared end
-- parameters: began, fixed (UTC microseconds, null where not declared)
-- order:    period
-- Before: requests that had finished when the fault began. After: requests received once it was fixed.
WITH found AS (
    SELECT
        request,
        bool_or(machine_verdict = 'probable') AS probable
    FROM fragments
    GROUP BY request
),
periods AS (
    SELECT
        CASE
            WHEN epoch_us(j.finished_at) < $began::BIGINT THEN 'before the fault began'
            WHEN epoch_us(j.received_at) > $fixed::BIGINT THEN 'after it was fixed'
        END AS period,
        f.request IS NOT NULL AS reported,
        coalesce(f.probable, false) AS probable
    FROM joined_requests AS j
    LEFT JOIN found AS f ON f.request = j.request
    WHERE j.examinable OR f.request IS NOT NULL
)
SELECT
    period,
    count(*) AS responses,
    count(*) FILTER (WHERE reported) AS reported,
    count(*) FILTER (WHERE probable) AS probable
FROM periods
WHERE period IS NOT NULL
GROUP BY period
ORDER BY period
