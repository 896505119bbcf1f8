-- question: (effect) which calls declare different cache keys that their engine's release joins to one?
-- inputs:   requests, request_workers, engine_events
-- grain:    one row per worker, rule and pair of keys
-- parameters: version (of the engines; null: as logged)
-- order:    none (INSERT)
-- 0.5.3 to 0.5.17 put the salt before the extra key without anything between them; since 0.5.3 the adapter's id is put after
-- the extra key. Which of these a call meets depends on the release; where that is unknown, so is whether it applies.
-- An adapter is known here by its path: a request whose extra key ends in it would meet its tree if the id is that path.
INSERT INTO cache_key_collisions BY NAME
WITH releases AS (
    SELECT max(coalesce(attributes ->> '$.sglang', attributes ->> '$.at_least')) AS release
    FROM engine_events
    WHERE kind IN ('engine_release', 'probe_start') AND attributes IS NOT NULL
    HAVING count(DISTINCT coalesce(attributes ->> '$.sglang', attributes ->> '$.at_least')) = 1
),
engine AS (
    SELECT coalesce($version::VARCHAR, (SELECT release FROM releases)) AS version
),
parts AS (
    SELECT version, [TRY_CAST(part AS BIGINT) FOR part IN string_split(version, '.')] AS numbers
    FROM engine
),
keys AS (
    SELECT
        w.worker,
        q.request,
        coalesce(q.ids ->> '$.cache_salt', '') AS salt,
        coalesce(q.ids ->> '$.extra_key', '') AS extra_key,
        coalesce(q.ids ->> '$.lora_path', q.ids ->> '$.lora_name', '') AS adapter
    FROM requests AS q
    INNER JOIN request_workers AS w ON w.request = q.request
    WHERE q.ids <> '{}'
),
declared AS (
    SELECT worker, salt, extra_key, adapter, min(request) AS request, count(DISTINCT request) AS requests
    FROM keys
    WHERE salt <> '' OR extra_key <> '' OR adapter <> ''
    GROUP BY worker, salt, extra_key, adapter
),
joined AS (
    SELECT *, 'salt_and_extra_key_concatenated' AS rule, salt || extra_key AS whole, adapter AS rest
    FROM declared
    WHERE salt <> '' OR extra_key <> ''
    UNION ALL
    SELECT *, 'extra_key_and_lora_concatenated', extra_key || adapter, salt
    FROM declared
    WHERE extra_key <> '' OR adapter <> ''
)
SELECT
    a.worker,
    a.rule,
    a.request AS first_request,
    b.request AS second_request,
    a.requests AS first_requests,
    b.requests AS second_requests,
    p.version,
    CASE
        WHEN p.version IS NULL THEN 'unknown'
        WHEN p.numbers < [0, 5, 3] THEN 'no'
        WHEN a.rule = 'salt_and_extra_key_concatenated' AND p.numbers >= [0, 5, 18] THEN 'no'
        ELSE 'yes'
    END AS applies
FROM joined AS a
INNER JOIN joined AS b
    ON b.worker = a.worker AND b.rule = a.rule AND b.whole = a.whole AND b.rest = a.rest
    AND (a.salt, a.extra_key, a.adapter) <> (b.salt, b.extra_key, b.adapter)
    AND a.request < b.request
CROSS JOIN parts AS p
