-- question: did source and recipient finish next to each other on their worker?
-- inputs:   leak_pairs, joined_requests, residencies
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Requests that finished at the same moment count as one place in the order. Null where either finish is not known.
INSERT INTO pair_facts BY NAME
WITH finishes AS (
    SELECT
        j.request,
        v.worker,
        dense_rank() OVER (PARTITION BY v.worker ORDER BY j.finished_at) AS place
    FROM joined_requests AS j
    INNER JOIN residencies AS v ON v.request = j.request AND v.phase = 'serve'
    WHERE j.finished_at IS NOT NULL
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'finish_neighbours' AS predicate,
    bool_or(s.worker = r.worker AND abs(s.place - r.place) <= 1) AS holds
FROM leak_pairs AS p
LEFT JOIN finishes AS s ON s.request = p.source
LEFT JOIN finishes AS r ON r.request = p.recipient
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
