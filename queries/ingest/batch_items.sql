-- question: (effect) which line of a batch's input file and which of its output belong together?
-- inputs:   records, record_ids, evidence
-- grain:    one row per custom_id with a line of input and one of output; those that stay apart say so (`sure`)
-- parameters: none
-- order:    none
-- A custom_id names an item inside one batch only, and no line names its batch. So one is followed only where nothing else
-- can be meant: every custom_id of the input file stands for one line of input and one of output in the whole case, and
-- every one of the output files for an item of this input. A batch that is answered in part stays apart as a whole: the
-- output may be that of another batch whose items are numbered the same way. Lines that repeat count once.
CREATE OR REPLACE TEMP TABLE batch_items AS
WITH lines AS (
    SELECT
        i.id, r.record_digest,
        CASE WHEN r.prompt_state = 'absent' THEN 'output' WHEN r.response_state = 'absent' THEN 'input' END AS side,
        min(r.record) AS record,
        list(DISTINCT r.evidence ORDER BY r.evidence) AS files
    FROM records r
    JOIN evidence e ON e.evidence = r.evidence
    JOIN record_ids i ON i.record = r.record AND i.kind = 'custom_id'
    WHERE e.format = 'batch' AND r.part = 'whole'
    GROUP BY i.id, r.record_digest, side
),
items AS (
    SELECT
        id,
        count(*) FILTER (WHERE side = 'input') AS inputs,
        count(*) FILTER (WHERE side = 'output') AS outputs,
        min(record) FILTER (WHERE side = 'input') AS asked,
        min(record) FILTER (WHERE side = 'output') AS answered,
        flatten(list(files) FILTER (WHERE side = 'input')) AS input_files,
        flatten(list(files) FILTER (WHERE side = 'output')) AS output_files
    FROM lines
    GROUP BY id
),
-- A line that is found in two files could be of two batches.
judged AS (
    SELECT *, inputs = 1 AND outputs = 1 AND len(input_files) = 1 AND len(output_files) = 1 AS alone
    FROM items
),
used AS (
    SELECT unnest(list_distinct(list_concat(coalesce(input_files, []), coalesce(output_files, [])))) AS file, alone,
        CASE WHEN alone THEN input_files[1] END AS input_file
    FROM judged
),
doubtful AS (
    SELECT file
    FROM used
    GROUP BY file
    HAVING NOT bool_and(alone) OR min(input_file) <> max(input_file)
)
SELECT
    id, asked, answered,
    alone AND input_files[1] NOT IN (FROM doubtful) AND output_files[1] NOT IN (FROM doubtful) AS sure
FROM judged
WHERE inputs > 0 AND outputs > 0
