-- question: (effect) how well does each kind of id tell calls apart, and how often do two vantages share it?
-- inputs:   request_ids, id_bases
-- grain:    one row per pair of vantages x kind of id at each x form, where at least one id is shared
-- parameters: none
-- order:    near_vantage, far_vantage, rank
-- Below ten shared ids a share says nothing, and the kind's own standing decides. A kind of which most ids repeat is not
-- used at all: where it seems unique, the other calls of that id may just not have been logged. Ids made from others are
-- several to one by nature.
INSERT INTO join_keys BY NAME
WITH exact AS (
    SELECT vantage, kind, 'exact' AS form, id, count(*) AS calls, min(weight) AS weight
    FROM request_ids
    GROUP BY vantage, kind, id
),
made AS (
    SELECT vantage, kind, form, id, count(*) AS calls, 1 AS weight
    FROM id_bases
    GROUP BY vantage, kind, form, id
),
totals AS (
    SELECT vantage, kind, form, count(*) AS ids, count(*) FILTER (WHERE calls > 1) AS repeated
    FROM (FROM exact UNION ALL FROM made)
    GROUP BY vantage, kind, form
),
pairs(near_vantage, far_vantage) AS (VALUES ('gateway', 'engine'), ('gateway', 'client'), ('engine', 'client')),
shared AS (
    SELECT p.near_vantage, p.far_vantage, n.kind AS near_kind, f.kind AS far_kind, 'exact' AS near_form,
        f.form AS far_form, n.calls AS near_calls, f.calls AS far_calls, greatest(n.weight, f.weight) AS weight
    FROM pairs p
    JOIN exact n ON n.vantage = p.near_vantage
    JOIN (FROM exact UNION ALL FROM made) f ON f.vantage = p.far_vantage AND f.id = n.id
    UNION ALL
    SELECT p.near_vantage, p.far_vantage, n.kind, f.kind, n.form, 'exact', n.calls, f.calls, greatest(n.weight, f.weight)
    FROM pairs p
    JOIN made n ON n.vantage = p.near_vantage
    JOIN exact f ON f.vantage = p.far_vantage AND f.id = n.id
),
measured AS (
    SELECT near_vantage, far_vantage, near_kind, far_kind, near_form, far_form,
        max(weight) AS weight,
        count(*) AS shared,
        count(*) FILTER (WHERE near_calls = 1 AND far_calls = 1) AS one_to_one,
        count(*) FILTER (WHERE (near_calls = 1) <> (far_calls = 1)) AS one_to_many,
        count(*) FILTER (WHERE near_calls > 1 AND far_calls > 1) AS many_to_many
    FROM shared
    GROUP BY near_vantage, far_vantage, near_kind, far_kind, near_form, far_form
),
judged AS (
    SELECT m.*,
        CASE WHEN near_form <> 'exact' THEN near_form ELSE far_form END AS form,
        CASE WHEN shared >= 10 THEN round(one_to_one / shared, 2) ELSE 1.0 END AS share
    FROM measured m
)
SELECT
    j.near_vantage, j.far_vantage, j.near_kind, j.far_kind, j.form,
    n.ids AS near_ids, n.repeated AS near_repeated, f.ids AS far_ids, f.repeated AS far_repeated,
    j.one_to_one, j.one_to_many, j.many_to_many,
    n.ids - j.shared AS near_unmatched, f.ids - j.shared AS far_unmatched,
    j.form <> 'exact' OR j.share >= CASE WHEN j.weight > 1 THEN 0.95 ELSE 0.5 END AS used,
    row_number() OVER (
        PARTITION BY j.near_vantage, j.far_vantage
        ORDER BY j.weight > 1, j.form <> 'exact', j.share DESC,
            (j.near_kind <> 'request_id')::INTEGER + (j.far_kind <> 'request_id')::INTEGER,
            j.one_to_one DESC, j.near_kind, j.far_kind, j.form
    ) AS rank
FROM judged j
JOIN totals n ON n.vantage = j.near_vantage AND n.kind = j.near_kind AND n.form = j.near_form
JOIN totals f ON f.vantage = j.far_vantage AND f.kind = j.far_kind AND f.form = j.far_form
ORDER BY j.near_vantage, j.far_vantage, rank
