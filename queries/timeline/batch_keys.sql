-- question: (effect) which of the forward passes that the sources tell make the timeline?
-- inputs:   probe_batches, schedule_batches
-- grain:    one row per forward pass, its key in the order of time
-- parameters: none
-- order:    none
-- All of them, still: which worker a process served, and so which sources tell the same passes, is settled later.
CREATE OR REPLACE TEMP TABLE batch_keys AS
WITH everything AS (
    SELECT 'probe' AS source, name, place, iteration, "at", kind, size
    FROM probe_batches
    UNION ALL
    SELECT source, name, place, NULL, "at", kind, size
    FROM schedule_batches
)
SELECT
    row_number() OVER (ORDER BY "at" NULLS LAST, place, source, iteration NULLS FIRST, name) - 1 AS batch,
    *
FROM everything
QUALIFY row_number() OVER (PARTITION BY source, name ORDER BY "at" NULLS LAST, place) = 1
