-- question: which ways of joining logs are not one-to-one, and how many findings depend on them?
-- inputs:   joined_requests, request_joins, join_keys, fragments, appearances, verdicts
-- grain:    one row per pair of vantages x way in which their calls were joined; one for calls that nothing joined
-- parameters: none
-- order:    near_vantage, far_vantage, basis, near_kind, far_kind, form
-- empty:    there are no requests in the evidence
-- A finding depends on a way where its recipient or a named source was joined so. ids_not_one_to_one: ids of that kind that
-- stand for several calls at one of the two places; such ids join nothing by themselves.
WITH ways AS (
    SELECT DISTINCT
        j.request,
        r.near_vantage,
        r.far_vantage,
        coalesce(r.basis, 'nothing joined: one vantage') AS basis,
        r.near_kind,
        r.far_kind,
        r.form
    FROM joined_requests AS j
    LEFT JOIN request_joins AS r ON r.request = j.request
),
strong AS (
    SELECT f.fragment_id, f.request
    FROM fragments AS f
    LEFT JOIN verdicts AS v ON v.fragment_id = f.fragment_id
    WHERE coalesce(v.verdict, f.machine_verdict) IN ('confirmed', 'probable')
),
taking_part AS (
    SELECT fragment_id, request, 'recipient' AS role FROM strong
    UNION
    SELECT s.fragment_id, a.request, 'source'
    FROM strong AS s
    INNER JOIN appearances AS a ON a.fragment_id = s.fragment_id
    WHERE a.named
)
SELECT
    w.near_vantage,
    w.far_vantage,
    w.basis,
    w.near_kind,
    w.far_kind,
    w.form,
    count(DISTINCT w.request) AS calls,
    coalesce(any_value(k.one_to_many + k.many_to_many), 0) AS ids_not_one_to_one,
    count(DISTINCT t.fragment_id) FILTER (WHERE t.role = 'recipient') AS fragments_by_recipient,
    count(DISTINCT t.fragment_id) FILTER (WHERE t.role = 'source') AS fragments_by_source,
    (SELECT count(*) FROM strong) AS of_fragments
FROM ways AS w
LEFT JOIN join_keys AS k
    ON k.near_vantage = w.near_vantage AND k.far_vantage = w.far_vantage AND k.near_kind = w.near_kind
    AND k.far_kind = w.far_kind AND k.form = w.form
LEFT JOIN taking_part AS t ON t.request = w.request
GROUP BY w.near_vantage, w.far_vantage, w.basis, w.near_kind, w.far_kind, w.form
ORDER BY w.near_vantage NULLS LAST, w.far_vantage NULLS LAST, w.basis, w.near_kind NULLS LAST, w.far_kind NULLS LAST, w.form
