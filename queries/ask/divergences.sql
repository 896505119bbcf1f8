-- question: where do two vantages log another text for the same call, and where on its way did it change?
-- inputs:   divergences, joined_requests
-- grain:    one row per call x field x pair of neighbouring vantages
-- parameters: none
-- order:    alarming first, then request_id, side, field, vantage_a, vantage_b
-- empty:    no call was logged with two different texts, or none was seen at two places
-- A prompt goes from the client to the engine, a response comes back: the change happened after the one that had it first.
SELECT
    j.request_id, j.tenant_id, d.side, d.field, d.vantage_a, d.vantage_b, d.kind,
    d.kind IN ('added', 'different') AS alarming,
    CASE d.side
        WHEN 'response' THEN 'after the ' || d.vantage_a || '''s log, at or before the ' || d.vantage_b || '''s'
        ELSE 'after the ' || d.vantage_b || '''s log, at or before the ' || d.vantage_a || '''s'
    END AS changed,
    d.first_at, d.code_points_a, d.code_points_b, j.received_at, j.worker
FROM divergences d
JOIN joined_requests j ON j.request = d.request
ORDER BY alarming DESC, j.request_id, d.request, d.side, d.field, d.vantage_a, d.vantage_b
