-- question: what did each prefix cache store, remove and clear, in the order in which it was published?
-- inputs:   kv_events
-- grain:    one row per event
-- parameters: none
-- order:    stream, time, number of the batch, place in the evidence
-- A stream is what one rank of one engine published. A batch that two recordings hold stands once. A stream with an event
-- of unknown time has no order, and is left out, as is one that stored nothing.
WITH once AS (
    SELECT *
    FROM kv_events
    QUALIFY seq IS NULL
        OR row_number() OVER (PARTITION BY worker, dp_rank, "at", seq, ordinal ORDER BY evidence, byte_offset) = 1
),
streams AS (
    SELECT worker, dp_rank, (row_number() OVER (ORDER BY worker NULLS FIRST, dp_rank NULLS FIRST))::INTEGER AS stream
    FROM once
    GROUP BY worker, dp_rank
    HAVING bool_and("at" IS NOT NULL) AND bool_or(kind = 'blocks_stored' AND len(blocks) > 0)
)
SELECT s.stream, epoch_us(o."at") AS at_us, o.seq, o.kind, o.block_size, o.medium, o.parent, o.blocks
FROM once AS o
INNER JOIN streams AS s
    ON s.worker IS NOT DISTINCT FROM o.worker AND s.dp_rank IS NOT DISTINCT FROM o.dp_rank
ORDER BY s.stream, o."at", o.seq NULLS LAST, o.evidence, o.byte_offset, o.ordinal
