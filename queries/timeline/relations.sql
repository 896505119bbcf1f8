-- question: how do source and recipient of each appearance stand to each other in time and place?
-- inputs:   appearances, fragments, joined_requests, request_workers
-- grain:    one row per appearance and relation
-- parameters: none
-- order:    none (INSERT)
-- Not ranked and not judged: place and time never gate a source. Unknown times or workers give `unknown`, not a guess.
INSERT INTO appearance_relations BY NAME
WITH pairs AS (
    SELECT
        a.fragment_id,
        a.rank,
        CASE WHEN sw.known THEN sw.worker END AS source_worker,
        CASE WHEN rw.known THEN rw.worker END AS recipient_worker,
        s.received_at AS source_received,
        s.finished_at AS source_finished,
        r.received_at AS recipient_received,
        r.finished_at AS recipient_finished,
        s.received_at IS NOT NULL AND s.finished_at IS NOT NULL
        AND r.received_at IS NOT NULL AND r.finished_at IS NOT NULL AS timed,
        s.received_at < r.finished_at AND r.received_at < s.finished_at AS overlapping,
        coalesce(lower(s.finish_reason) LIKE '%abort%' OR lower(s.finish_reason) LIKE 'cancel%', false) AS aborted
    FROM appearances AS a
    INNER JOIN fragments AS f ON f.fragment_id = a.fragment_id
    INNER JOIN joined_requests AS s ON s.request = a.request
    INNER JOIN joined_requests AS r ON r.request = f.request
    INNER JOIN request_workers AS sw ON sw.request = s.request
    INNER JOIN request_workers AS rw ON rw.request = r.request
),
facts AS (
    SELECT DISTINCT * FROM pairs
)
SELECT
    fragment_id,
    rank,
    'same_worker' AS relation,
    CASE
        WHEN source_worker IS NULL OR recipient_worker IS NULL THEN 'unknown'
        WHEN source_worker = recipient_worker THEN 'yes'
        ELSE 'no'
    END AS value,
    'derived' AS basis
FROM facts
UNION ALL
SELECT
    fragment_id,
    rank,
    'overlapped_us',
    CASE
        WHEN NOT timed THEN 'unknown'
        WHEN overlapping
            THEN (
                epoch_us(least(source_finished, recipient_finished))
                - epoch_us(greatest(source_received, recipient_received))
            )::VARCHAR
        ELSE '0'
    END,
    'derived'
FROM facts
UNION ALL
SELECT
    fragment_id,
    rank,
    'source_finished_before_us',
    (epoch_us(recipient_received) - epoch_us(source_finished))::VARCHAR,
    'derived'
FROM facts
WHERE source_finished <= recipient_received
UNION ALL
SELECT
    fragment_id,
    rank,
    'received_first',
    CASE
        WHEN source_received IS NULL OR recipient_received IS NULL THEN 'unknown'
        WHEN source_received < recipient_received THEN 'source'
        WHEN source_received > recipient_received THEN 'recipient'
        ELSE 'same_time'
    END,
    'derived'
FROM facts
UNION ALL
SELECT fragment_id, rank, 'source_aborted', 'yes', 'derived'
FROM facts
WHERE aborted
