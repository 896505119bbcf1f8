-- question: (effect) how many calls of each vantage were found at each other one, and why were the rest not?
-- inputs:   request_rows, request_ids, id_bases, request_joins, request_roots, join_refusals
-- grain:    one row per vantage x other vantage x outcome
-- parameters: none
-- order:    vantage, other_vantage, outcome
-- joined: one to one, directly or through the third vantage. one_to_many: an id of the call, or one made from it, stands
-- for several calls over there (a retry, a batch, several choices), many_to_one: the other way round; they stay apart.
INSERT INTO join_outcomes BY NAME
WITH seen AS (SELECT DISTINCT vantage FROM request_rows),
rows_of AS (
    SELECT q.key, q.vantage, o.vantage AS other_vantage, t.request
    FROM request_rows q
    JOIN seen o ON o.vantage <> q.vantage
    JOIN request_roots t ON t.key = q.key
),
there AS (
    SELECT t.request, q.vantage
    FROM request_roots t
    JOIN request_rows q ON q.key = t.key
),
ids AS (
    SELECT vantage, id, key FROM request_ids WHERE weight < 2
    UNION
    SELECT vantage, id, key FROM id_bases
),
counted AS (SELECT vantage, id, count(DISTINCT key) AS calls FROM ids GROUP BY vantage, id),
apart AS (
    SELECT r.*
    FROM rows_of r
    ANTI JOIN there j ON j.request = r.request AND j.vantage = r.other_vantage
),
shared AS (
    SELECT a.key, a.other_vantage,
        max(h.calls) AS here, max(o.calls) AS over_there
    FROM apart a
    JOIN ids i ON i.key = a.key
    JOIN counted h ON h.vantage = a.vantage AND h.id = i.id
    JOIN counted o ON o.vantage = a.other_vantage AND o.id = i.id
    GROUP BY a.key, a.other_vantage
),
told AS (
    SELECT r.vantage, r.other_vantage, 'joined' AS outcome
    FROM rows_of r
    SEMI JOIN there j ON j.request = r.request AND j.vantage = r.other_vantage
    UNION ALL
    SELECT a.vantage, a.other_vantage,
        CASE
            WHEN f.reason IS NOT NULL AND f.reason <> 'not_corroborated' THEN f.reason
            WHEN s.here > 1 AND s.over_there > 1 THEN 'many_to_many'
            WHEN s.here > 1 THEN 'many_to_one'
            WHEN s.over_there > 1 THEN 'one_to_many'
            WHEN f.reason IS NOT NULL THEN f.reason
            WHEN s.key IS NOT NULL THEN 'not_used'
            ELSE 'unmatched'
        END
    FROM apart a
    LEFT JOIN shared s ON s.key = a.key AND s.other_vantage = a.other_vantage
    LEFT JOIN (
        SELECT key, other_vantage, min(reason) AS reason
        FROM join_refusals
        GROUP BY key, other_vantage
    ) f ON f.key = a.key AND f.other_vantage = a.other_vantage
)
SELECT vantage, other_vantage, outcome, count(*) AS requests
FROM told
GROUP BY vantage, other_vantage, outcome
ORDER BY vantage, other_vantage, outcome
