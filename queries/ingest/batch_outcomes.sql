-- question: (effect) how many items of batches were put together, and how many stay apart?
-- inputs:   batch_items
-- grain:    one row per outcome
-- parameters: none
-- order:    outcome
INSERT INTO join_outcomes BY NAME
SELECT 'client' AS vantage, 'client' AS other_vantage,
    CASE WHEN sure THEN 'joined' ELSE 'custom_id_not_sure' END AS outcome, count(*) AS requests
FROM batch_items
GROUP BY outcome
ORDER BY outcome
