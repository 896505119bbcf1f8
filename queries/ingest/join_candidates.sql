-- question: (effect) which calls of two vantages may be one, by their ids?
-- inputs:   request_rows, request_ids, id_bases, join_keys
-- grain:    one row per pair of calls and tier
-- parameters: none
-- order:    none
-- Tier 1: an equal id. Tier 2: an id made from the other's. Tier 3: an equal id of a kind that may stand for several
-- calls. An id joins only where it stands for one call at each of the two vantages. `brought`: all that ties the pair came
-- with the body of an answer.
CREATE OR REPLACE TEMP TABLE join_candidates AS
WITH pairs(near_vantage, far_vantage) AS (VALUES ('gateway', 'engine'), ('gateway', 'client'), ('engine', 'client')),
exact AS (
    SELECT vantage, id, any_value(key) AS key, any_value(kind) AS kind, any_value(weight) AS weight,
        any_value(brought) AS brought
    FROM request_ids
    GROUP BY vantage, id
    HAVING count(*) = 1
),
made AS (
    SELECT vantage, id, any_value(key) AS key, any_value(kind) AS kind, any_value(form) AS form,
        any_value(brought) AS brought
    FROM id_bases
    GROUP BY vantage, id
    HAVING count(*) = 1
),
found AS (
    SELECT n.key AS near, f.key AS far, p.near_vantage, p.far_vantage, n.kind AS near_kind, f.kind AS far_kind,
        'exact' AS form, CASE WHEN greatest(n.weight, f.weight) < 2 THEN 1 ELSE 3 END AS tier,
        n.brought OR f.brought AS brought
    FROM pairs p
    JOIN exact n ON n.vantage = p.near_vantage
    JOIN exact f ON f.vantage = p.far_vantage AND f.id = n.id
    UNION ALL
    SELECT n.key, f.key, p.near_vantage, p.far_vantage, n.kind, f.kind, f.form, 2, n.brought OR f.brought
    FROM pairs p
    JOIN exact n ON n.vantage = p.near_vantage AND n.weight < 2
    JOIN made f ON f.vantage = p.far_vantage AND f.id = n.id
    UNION ALL
    SELECT n.key, f.key, p.near_vantage, p.far_vantage, n.kind, f.kind, n.form, 2, n.brought OR f.brought
    FROM pairs p
    JOIN made n ON n.vantage = p.near_vantage
    JOIN exact f ON f.vantage = p.far_vantage AND f.id = n.id AND f.weight < 2
)
SELECT
    c.near, c.far, c.near_vantage, c.far_vantage, c.tier,
    min(k.rank) AS rank,
    min_by(c.near_kind, k.rank) AS near_kind, min_by(c.far_kind, k.rank) AS far_kind, min_by(c.form, k.rank) AS form,
    CASE c.tier WHEN 1 THEN 'id' WHEN 2 THEN 'derived_id' ELSE 'shared_id' END AS basis,
    bool_and(c.brought) AS brought,
    NULL::VARCHAR AS refused
FROM found c
JOIN join_keys k USING (near_vantage, far_vantage, near_kind, far_kind, form)
WHERE k.used
GROUP BY c.near, c.far, c.near_vantage, c.far_vantage, c.tier
;
CREATE OR REPLACE TEMP TABLE join_links (
    near BIGINT, far BIGINT, near_vantage VARCHAR, far_vantage VARCHAR,
    basis VARCHAR, near_kind VARCHAR, far_kind VARCHAR, form VARCHAR
);
-- `final`: no weaker sign may join what this one left apart.
CREATE OR REPLACE TEMP TABLE join_refusals (key BIGINT, other_vantage VARCHAR, reason VARCHAR, final BOOLEAN)
