-- question: did source and recipient share a bootstrap room?
-- inputs:   leak_pairs, requests, engine_events, engine_rids
-- grain:    one row per set and leak or control
-- parameters: none
-- order:    none (INSERT)
-- Null where the room of either is not known.
INSERT INTO pair_facts BY NAME
WITH rooms AS (
    SELECT request, ids::JSON ->> 'bootstrap_room' AS room
    FROM requests
    UNION
    SELECT i.request, e.attributes::JSON ->> 'bootstrap_room'
    FROM engine_events AS e
    INNER JOIN engine_rids AS i ON i.rid = e.request_id
    WHERE contains(e.attributes, 'bootstrap_room')
),
known AS (
    SELECT request, list(room) AS rooms
    FROM rooms
    WHERE room IS NOT NULL
    GROUP BY request
)
SELECT
    p.kind,
    p.level,
    p.pair_set,
    p.control,
    'same_room' AS predicate,
    bool_or(list_has_any(s.rooms, r.rooms)) AS holds
FROM leak_pairs AS p
LEFT JOIN known AS s ON s.request = p.source
LEFT JOIN known AS r ON r.request = p.recipient
WHERE p.kind = 'source'
GROUP BY p.kind, p.level, p.pair_set, p.control
