-- question: (effect) which stays in slots make the timeline?
-- inputs:   slot_stays, place_workers
-- grain:    one row per stay of a call of the case in a slot
-- parameters: none
-- order:    none (INSERT)
INSERT INTO residencies BY NAME
SELECT
    s.request,
    p.worker,
    s.slot::VARCHAR AS slot,
    'slot' AS phase,
    s.starts AS "start",
    s.ends AS "end",
    s.basis,
    s.confidence,
    s.source
FROM slot_stays AS s
INNER JOIN place_workers AS p ON p.place = s.place
WHERE s.request IS NOT NULL AND s.slot IS NOT NULL AND s.ends >= s.starts
