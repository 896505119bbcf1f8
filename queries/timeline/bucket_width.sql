-- question: how wide must the buckets be so that the whole span needs few of them?
-- inputs:   joined_requests
-- grain:    one row
-- parameters: buckets (the most buckets wanted)
-- order:    none
WITH span AS (
    SELECT
        min(coalesce(finished_at, received_at)) AS first_at,
        max(coalesce(finished_at, received_at)) AS last_at
    FROM joined_requests
),
widths (seconds) AS (
    VALUES (1), (5), (10), (30), (60), (300), (600), (1800), (3600), (10800), (21600), (43200), (86400), (604800)
)
SELECT coalesce(
    (
        SELECT min(w.seconds)
        FROM widths AS w
        CROSS JOIN span AS s
        WHERE w.seconds::BIGINT * $buckets >= epoch(s.last_at) - epoch(s.first_at)
    ),
    604800
) AS seconds
