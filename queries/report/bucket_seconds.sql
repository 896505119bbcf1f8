-- question: how wide are the time buckets that the timeline chose?
-- inputs:   stages
-- grain:    one row
-- parameters: none
-- order:    none
SELECT coalesce(
    (SELECT (summary::JSON -> 'figures' ->> 'bucket_seconds')::BIGINT FROM stages WHERE stage = 'timeline'),
    3600
) AS seconds
