-- question: (effect) on which schedulers did the probe or the server write who got which slot?
-- inputs:   slot_stays, place_workers
-- grain:    one row per worker and source
-- parameters: none
-- order:    none (INSERT)
INSERT INTO slot_derivations BY NAME
SELECT
    p.worker,
    'logged' AS basis,
    NULL::VARCHAR AS policy,
    NULL::VARCHAR AS version,
    min(s.slot) AS first_slot,
    count(DISTINCT s.slot) AS slots,
    count(*) AS stays,
    count(s.request) AS given,
    0 AS checks,
    0 AS agreed,
    'the ' || CASE s.source WHEN 'probe' THEN 'probe' ELSE 'server' END || ' wrote who got which slot' AS reason
FROM slot_stays AS s
INNER JOIN place_workers AS p ON p.place = s.place
GROUP BY p.worker, s.source
