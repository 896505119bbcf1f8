-- question: how many of the examined responses were affected before, in and after the window?
-- inputs:   joined_requests, affected_requests
-- grain:    one row per period
-- parameters: none
-- order:    name
-- A response that carries foreign text was examined, whatever else is missing of its request.
WITH ends AS (
    SELECT
        min(received_at) AS first_at,
        max(received_at) AS last_at
    FROM affected_requests
    WHERE listed = 'affected'
),
periods AS (
    SELECT
        CASE
            WHEN e.first_at IS NULL THEN 'whole'
            WHEN j.received_at < e.first_at THEN 'before_window'
            WHEN j.received_at > e.last_at THEN 'after_window'
            ELSE 'in_window'
        END AS period,
        a.request IS NOT NULL AS affected
    FROM joined_requests AS j
    CROSS JOIN ends AS e
    LEFT JOIN affected_requests AS a ON a.request = j.request AND a.listed = 'affected'
    WHERE j.received_at IS NOT NULL AND (j.examinable OR a.request IS NOT NULL)
),
names (period) AS (
    SELECT unnest(CASE WHEN first_at IS NULL THEN ['whole'] ELSE ['before_window', 'in_window', 'after_window'] END)
    FROM ends
)
SELECT
    'rate.' || n.period AS name,
    count(*) FILTER (WHERE p.affected) AS n,
    count(p.period) AS total
FROM names AS n
LEFT JOIN periods AS p ON p.period = n.period
GROUP BY n.period
ORDER BY name
