-- question: how many requests without foreign text are tied to a fault by the timeline?
-- inputs:   exposures, joined_requests
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    count(DISTINCT request) FILTER (WHERE supported) AS supported,
    count(DISTINCT request) FILTER (WHERE NOT supported) AS unsupported,
    count(DISTINCT tenant_id) FILTER (WHERE supported) AS tenants,
    count(DISTINCT request) FILTER (WHERE supported AND NOT examinable) AS unread,
    (SELECT count(*) FROM joined_requests) AS requests
FROM exposures
