-- question: does the engine's text of the recipient differ from what gateway or client received?
-- inputs:   leak_pairs, divergences, requests
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where fewer than two places logged the response whole.
INSERT INTO pair_facts BY NAME
WITH places AS (
    SELECT request
    FROM requests
    WHERE response_state = 'full'
    GROUP BY request
    HAVING count(DISTINCT vantage) > 1
),
differing AS (
    SELECT DISTINCT request
    FROM divergences
    WHERE side = 'response' AND kind = 'different'
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'diverged' AS predicate,
    bool_or(CASE WHEN a.request IS NULL THEN NULL ELSE d.request IS NOT NULL END) AS holds
FROM leak_pairs AS p
LEFT JOIN places AS a ON a.request = p.recipient
LEFT JOIN differing AS d ON d.request = p.recipient
WHERE p.kind = 'recipient'
GROUP BY p.kind, p.level, p.pair_set, p.control
