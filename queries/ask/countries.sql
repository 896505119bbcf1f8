-- question: which countries follow from the recorded places of the affected customers, and which clock may have started?
-- inputs:   affected_tenants, tenants, notice_facts
-- grain:    one row per country (null: not recorded) of customers that must be told or reviewed
-- parameters: none
-- order:    country
-- empty:    no customer must be told or reviewed
-- A clock starts when somebody became aware, and only a person can say when that was: what is printed are the earliest times
-- from which it could be counted. Deadlines by regime stand in the draft letters' regimes.json.
WITH addresses AS (
    SELECT tenant_id, min(country) AS country
    FROM tenants
    GROUP BY tenant_id
),
set_by_a_person AS (
    SELECT arg_max(value, ("at", name)) AS aware_at
    FROM notice_facts
    WHERE tenant_ref = '' AND key = 'aware'
)
SELECT
    t.country,
    count(*) AS customers,
    count(*) FILTER (WHERE a.notify = 'yes') AS to_tell,
    count(*) FILTER (WHERE a.notify = 'review') AS to_review,
    min(a.first_at) AS first_affected_at,
    coalesce((SELECT aware_at FROM set_by_a_person), 'unknown_to_fill: only a person sets it') AS aware_at,
    CASE WHEN t.country IS NULL THEN 'not recorded: give --tenants with a column country' ELSE 'from the tenants file' END AS basis
FROM affected_tenants AS a
LEFT JOIN addresses AS t ON t.tenant_id = a.tenant_id
WHERE a.notify IN ('yes', 'review')
GROUP BY t.country
ORDER BY t.country NULLS LAST
