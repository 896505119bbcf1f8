-- question: how much of the timeline rests on what the logs say, and how much on assumptions?
-- inputs:   residencies, appearance_relations, joined_requests, batches, batch_members, cache_hits, slot_derivations
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    (SELECT count(*) FROM residencies WHERE phase = 'serve') AS residencies,
    (SELECT count(*) FROM residencies WHERE phase = 'serve' AND confidence < 1) AS residencies_less_sure,
    (SELECT count(*) FROM residencies WHERE phase = 'serve' AND worker = 'unknown') AS residencies_without_worker,
    (
        SELECT count(*)
        FROM joined_requests
        WHERE received_at IS NULL AND finished_at IS NULL
    ) AS requests_without_times,
    (SELECT count(*) FROM appearance_relations WHERE relation = 'same_worker') AS appearances,
    (
        SELECT count(*)
        FROM appearance_relations
        WHERE relation = 'same_worker' AND value = 'yes'
    ) AS appearances_same_worker,
    (
        SELECT count(*)
        FROM appearance_relations
        WHERE relation = 'overlapped_us' AND value NOT IN ('0', 'unknown')
    ) AS appearances_overlapped,
    (
        SELECT count(*) FROM appearance_relations WHERE relation = 'source_finished_before_us'
    ) AS appearances_source_finished_before,
    (SELECT count(*) FROM appearance_relations WHERE relation = 'source_aborted') AS appearances_source_aborted,
    (SELECT count(*) FROM residencies WHERE phase = 'slot' AND basis = 'logged') AS slots_logged,
    (SELECT count(*) FROM residencies WHERE phase = 'slot' AND basis = 'derived') AS slots_derived,
    (SELECT coalesce(sum(stays), 0)::BIGINT FROM slot_derivations WHERE basis <> 'logged') AS slots_derivable,
    (SELECT count(DISTINCT request) FROM residencies WHERE phase = 'slot') AS requests_with_slots,
    (SELECT count(*) FROM batches) AS batches,
    (SELECT count(*) FROM batch_members) AS batch_members,
    (SELECT count(DISTINCT request) FROM batch_members) AS requests_in_batches,
    (SELECT count(*) FROM cache_hits) AS cache_hits,
    (SELECT count(*) FROM cache_hits WHERE excess_tokens IS NOT NULL) AS cache_hits_judged,
    (SELECT count(*) FROM cache_hits WHERE excess_tokens > 0) AS cache_hits_beyond_own,
    (SELECT count(*) FROM cache_hits WHERE matched_request IS NOT NULL) AS cache_hits_explained
