-- question: what have people said about responses of the sample?
-- inputs:   elusion_reviews
-- grain:    one row per reading
-- parameters: none
-- order:    at, request_id, name, decision
SELECT
    request_id,
    decision,
    name,
    epoch_us("at") AS at_us
FROM elusion_reviews
ORDER BY at_us, request_id, name, decision
