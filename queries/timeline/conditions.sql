-- question: which features of the engine do the logs show to be on, or off?
-- inputs:   engine_events, requests
-- grain:    one row per condition that the logs say something of
-- parameters: none
-- order:    condition
-- From the engine's own arguments where an event `server_args` holds them; prefill and decode apart also from its lines.
WITH arguments AS (
    SELECT attributes::JSON AS args
    FROM engine_events
    WHERE kind = 'server_args' AND attributes IS NOT NULL
),
told AS (
    SELECT 'speculative' AS condition, args ->> 'speculative_algorithm' AS value FROM arguments
    UNION ALL
    SELECT 'host_cache', args ->> 'enable_hierarchical_cache' FROM arguments
    UNION ALL
    SELECT 'dp_attention', args ->> 'enable_dp_attention' FROM arguments
    UNION ALL
    SELECT 'deterministic', args ->> 'enable_deterministic_inference' FROM arguments
    UNION ALL
    SELECT 'disaggregated', args ->> 'disaggregation_mode' FROM arguments
    UNION ALL
    SELECT 'disaggregated', nullif(attributes::JSON ->> 'type', '')
    FROM engine_events
    WHERE kind = 'request_time_stats'
    UNION ALL
    SELECT 'disaggregated', 'yes'
    FROM engine_events
    WHERE kind IN ('transfer_failed', 'context_corruption')
)
SELECT
    condition,
    bool_or(lower(value) NOT IN ('false', 'none', 'null', 'unified', '')) AS met
FROM told
WHERE value IS NOT NULL
GROUP BY condition
ORDER BY condition
