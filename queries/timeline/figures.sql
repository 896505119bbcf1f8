-- question: how much of the timeline rests on what the logs say, and how much on assumptions?
-- inputs:   residencies, appearance_relations, joined_requests
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    (SELECT count(*) FROM residencies) AS residencies,
    (SELECT count(*) FROM residencies WHERE confidence < 1) AS less_sure,
    (SELECT count(*) FROM residencies WHERE worker = 'unknown') AS without_worker,
    (SELECT count(*) FROM joined_requests WHERE received_at IS NULL AND finished_at IS NULL) AS without_times,
    (SELECT count(*) FROM appearance_relations WHERE relation = 'same_worker') AS appearances,
    (SELECT count(*) FROM appearance_relations WHERE relation = 'same_worker' AND value = 'yes') AS same_worker,
    (
        SELECT count(*)
        FROM appearance_relations
        WHERE relation = 'overlapped_us' AND value NOT IN ('0', 'unknown')
    ) AS overlapped,
    (SELECT count(*) FROM appearance_relations WHERE relation = 'source_finished_before_us') AS finished_before,
    (SELECT count(*) FROM appearance_relations WHERE relation = 'source_aborted') AS aborted
