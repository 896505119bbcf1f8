-- question: which worker, slot, batches and cached tokens did source and recipient both touch, and is that measured or inferred?
-- inputs:   fragments, appearances, appearance_relations, residencies, joined_requests
-- grain:    one row per fragment x named source tenant: its best-ranked request
-- parameters: none
-- order:    recipient_request_id, fragment_id, source_request_id
-- empty:    no fragment has a named source, so no two requests can have shared a place
WITH best AS (
    SELECT fragment_id, source_tenant_id, min(rank) AS rank, arg_min(request, rank) AS source
    FROM appearances
    WHERE named
    GROUP BY fragment_id, source_tenant_id
),
facts AS (
    SELECT
        fragment_id,
        rank,
        max(value) FILTER (WHERE relation = 'same_worker') AS same_worker,
        max(value) FILTER (WHERE relation = 'same_slot') AS same_slot,
        max(value) FILTER (WHERE relation = 'slot_predecessor') AS slot_predecessor,
        max(value) FILTER (WHERE relation = 'slot_gap_us') AS slot_gap_us,
        max(value) FILTER (WHERE relation = 'same_batch') AS same_batch,
        max(value) FILTER (WHERE relation = 'batches_shared') AS batches_shared,
        max(value) FILTER (WHERE relation = 'same_prefix') AS same_prefix,
        max(value) FILTER (WHERE relation = 'cache_excess_tokens') AS cached_tokens_beyond_own,
        max(basis) FILTER (WHERE relation = 'same_slot' AND value <> 'unknown') AS slot_basis,
        max(basis) FILTER (WHERE relation = 'same_batch' AND value <> 'unknown') AS batch_basis,
        max(basis) FILTER (WHERE relation = 'same_prefix' AND value <> 'unknown') AS prefix_basis
    FROM appearance_relations
    GROUP BY fragment_id, rank
),
slots AS (
    SELECT request, worker, slot, string_agg(DISTINCT basis, ', ' ORDER BY basis) AS basis
    FROM residencies
    WHERE slot IS NOT NULL
    GROUP BY request, worker, slot
),
common AS (
    SELECT b.fragment_id, b.rank, list_sort(list(DISTINCT r.worker || ' slot ' || r.slot)) AS slots
    FROM best AS b
    INNER JOIN fragments AS f ON f.fragment_id = b.fragment_id
    INNER JOIN slots AS s ON s.request = b.source
    INNER JOIN slots AS r ON r.request = f.request AND r.worker = s.worker AND r.slot = s.slot
    GROUP BY b.fragment_id, b.rank
)
SELECT
    f.fragment_id,
    s.request_id AS source_request_id,
    f.recipient_request_id,
    s.worker AS source_worker,
    r.worker AS recipient_worker,
    coalesce(t.same_worker, 'unknown') AS same_worker,
    coalesce(t.same_slot, 'unknown') AS same_slot,
    c.slots AS shared_slots,
    coalesce(t.slot_predecessor, 'unknown') AS source_held_it_just_before,
    TRY_CAST(t.slot_gap_us AS BIGINT) / 1e6 AS slot_gap_seconds,
    coalesce(t.same_batch, 'unknown') AS same_batch,
    TRY_CAST(t.batches_shared AS BIGINT) AS batches_shared,
    coalesce(t.same_prefix, 'unknown') AS same_prefix,
    TRY_CAST(t.cached_tokens_beyond_own AS BIGINT) AS cached_tokens_beyond_own,
    coalesce(t.slot_basis, 'not in these logs') AS slot_basis,
    coalesce(t.batch_basis, 'not in these logs') AS batch_basis,
    coalesce(t.prefix_basis, 'not in these logs') AS prefix_basis
FROM best AS b
INNER JOIN fragments AS f ON f.fragment_id = b.fragment_id
INNER JOIN joined_requests AS s ON s.request = b.source
INNER JOIN joined_requests AS r ON r.request = f.request
LEFT JOIN facts AS t ON t.fragment_id = b.fragment_id AND t.rank = b.rank
LEFT JOIN common AS c ON c.fragment_id = b.fragment_id AND c.rank = b.rank
ORDER BY f.recipient_request_id, f.fragment_id, source_request_id
