-- question: how many cache hits could KV events not judge, and why?
-- inputs:   cache_hits
-- grain:    one row per reason, `used` for those that they did judge
-- parameters: none
-- order:    calls (most first), reason
SELECT kv_events AS reason, count(*) AS calls
FROM cache_hits
WHERE cached_tokens > 0
GROUP BY kv_events
ORDER BY calls DESC, reason
