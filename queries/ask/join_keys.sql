-- question: which kinds of id tell calls apart at each vantage, how many do two vantages share, and what did each join?
-- inputs:   join_keys, request_joins
-- grain:    one row per pair of vantages x kind of id at each x form; and one per kind of text that joined calls
-- parameters: none
-- order:    near_vantage, far_vantage, rank, form
-- empty:    all requests were seen at one place, so that nothing had to be joined
WITH joined AS (
    SELECT near_vantage, far_vantage, near_kind, far_kind, form, basis, count(*) AS calls
    FROM request_joins
    GROUP BY ALL
)
SELECT
    k.near_vantage, k.far_vantage, k.near_kind, k.far_kind, k.form,
    k.near_ids, k.near_repeated, k.far_ids, k.far_repeated, k.one_to_one, k.one_to_many, k.many_to_many,
    k.near_unmatched, k.far_unmatched, k.used, k.rank,
    CAST(coalesce(sum(j.calls), 0) AS BIGINT) AS joined_calls
FROM join_keys k
LEFT JOIN joined j
    ON j.near_vantage = k.near_vantage AND j.far_vantage = k.far_vantage AND j.near_kind = k.near_kind
    AND j.far_kind = k.far_kind AND j.form = k.form
GROUP BY ALL
UNION ALL
SELECT near_vantage, far_vantage, basis, basis, form, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, TRUE, NULL, calls
FROM joined
WHERE near_kind IS NULL
ORDER BY near_vantage, far_vantage, rank NULLS LAST, near_kind, form
