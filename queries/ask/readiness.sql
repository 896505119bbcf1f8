-- question: what do these logs allow and what do they not, and what should be switched on for the next time?
-- inputs:   joined_requests, requests, evidence, residencies, engine_events, clock_offsets, divergences, advice
-- grain:    one row per finding x side x vantage x format (null where all are meant)
-- parameters: none
-- order:    what is there first; then by share, finding, side, vantage, format
-- empty:    there are no requests in the evidence
-- n of total counts `unit`. A text is missing only where no vantage has it; the formats named are those that could have
-- had it. The advice is the one for the most specific pattern that the format fits.
WITH everything AS (SELECT count(*) AS requests FROM joined_requests),
places AS (
    SELECT q.request, q.request_id, q.vantage, e.format, q.prompt_state, q.response_state, q.worker, q.received_at, q.finished_at,
        q.time_precision
    FROM requests q
    JOIN evidence e ON e.evidence = q.evidence
),
there AS (
    SELECT 'prompt_full' AS finding, 'prompt' AS side, count(*) FILTER (WHERE prompt_state = 'full') AS n
    FROM joined_requests
    UNION ALL
    SELECT 'response_full', 'response', count(*) FILTER (WHERE response_state = 'full') FROM joined_requests
    UNION ALL
    SELECT 'examinable', NULL, count(*) FILTER (WHERE examinable) FROM joined_requests
    UNION ALL
    SELECT 'joined', NULL, count(*) FILTER (WHERE contains(vantages, ',')) FROM joined_requests
),
bodies AS (
    SELECT j.prompt_state AS finding, 'prompt' AS side, p.vantage, p.format, j.request
    FROM joined_requests j
    JOIN places p ON p.request = j.request AND p.prompt_state = j.prompt_state
    WHERE j.prompt_state <> 'full'
    UNION ALL
    SELECT j.response_state, 'response', p.vantage, p.format, j.request
    FROM joined_requests j
    JOIN places p ON p.request = j.request AND p.response_state = j.response_state
    WHERE j.response_state <> 'full'
),
lacks AS (
    SELECT finding, side, vantage, format, request FROM bodies
    UNION ALL
    SELECT l.finding, NULL, p.vantage, p.format, p.request
    FROM places p
    JOIN joined_requests j ON j.request = p.request
    CROSS JOIN LATERAL (
        VALUES
            ('no_tenant', j.tenant_id IS NULL),
            ('no_worker', j.worker IS NULL),
            ('no_received_time', j.received_at IS NULL),
            ('no_finished_time', j.finished_at IS NULL),
            ('one_vantage', NOT contains(j.vantages, ','))
    ) l(finding, holds)
    WHERE l.holds
    UNION ALL
    SELECT 'precision_seconds', NULL, p.vantage, p.format, p.request
    FROM places p
    WHERE p.time_precision = 's'
    UNION ALL
    SELECT 'no_batch_or_slot', NULL, p.vantage, p.format, p.request
    FROM places p
    JOIN joined_requests j ON j.request = p.request
    ANTI JOIN (FROM residencies WHERE basis = 'logged') r ON r.request = p.request
    ANTI JOIN (FROM engine_events WHERE slot IS NOT NULL OR batch IS NOT NULL OR iteration IS NOT NULL) e
        ON e.request_id = p.request_id
    WHERE p.vantage = 'engine' OR NOT contains(j.vantages, 'engine')
    UNION ALL
    SELECT 'texts_differ', d.side, NULL, NULL, d.request
    FROM divergences d
    WHERE d.kind IN ('added', 'different')
),
of_requests AS (
    SELECT finding, side, vantage, format, 'requests' AS unit, count(DISTINCT request) AS n,
        (SELECT requests FROM everything) AS total
    FROM lacks
    GROUP BY finding, side, vantage, format
),
span AS (
    SELECT date_diff('hour', date_trunc('hour', min(received_at)), date_trunc('hour', max(received_at))) + 1 AS hours
    FROM places
),
of_hours AS (
    SELECT 'hours_without_requests' AS finding, NULL AS side, p.vantage, p.format, 'hours' AS unit,
        any_value(s.hours) - count(DISTINCT date_trunc('hour', p.received_at)) AS n, any_value(s.hours) AS total
    FROM places p
    CROSS JOIN span s
    WHERE p.received_at IS NOT NULL
    GROUP BY p.vantage, p.format
),
of_files AS (
    SELECT 'zone_assumed' AS finding, NULL AS side, NULL AS vantage, format, 'files' AS unit,
        count(*) FILTER (WHERE time_zone_basis = 'assumed') AS n, count(*) AS total
    FROM evidence
    GROUP BY format
    UNION ALL
    SELECT 'year_assumed', NULL, NULL, format, 'files', count(*) FILTER (WHERE year_basis = 'file_time'), count(*)
    FROM evidence
    GROUP BY format
    UNION ALL
    SELECT 'incomplete_files', NULL, NULL, format, 'files', count(*) FILTER (WHERE NOT complete), count(*)
    FROM evidence
    GROUP BY format
    UNION ALL
    SELECT 'rejected_lines', NULL, NULL, format, 'lines', CAST(sum(rejected) AS BIGINT),
        CAST(sum(records + rejected + blank + structure) AS BIGINT)
    FROM evidence
    GROUP BY format
    UNION ALL
    SELECT 'clocks_apart', NULL, near_vantage || ' and ' || far_vantage, NULL, 'pairs of files',
        count(*) FILTER (WHERE low_us > 0 OR high_us < 0), count(*)
    FROM clock_offsets
    WHERE near_evidence IS NOT NULL
    GROUP BY near_vantage, far_vantage
),
found AS (
    SELECT finding, side, NULL AS vantage, NULL AS format, 'requests' AS unit, n,
        (SELECT requests FROM everything) AS total, TRUE AS there
    FROM there
    UNION ALL
    SELECT *, FALSE
    FROM (FROM of_requests UNION ALL FROM of_hours UNION ALL FROM of_files)
    WHERE n > 0
),
meanings(finding, means) AS (
    VALUES
        ('prompt_full', 'prompts can be searched as sources'),
        ('response_full', 'responses can be searched for foreign text'),
        ('examinable', 'tenant known and both texts full: it can be told whether something was found'),
        ('joined', 'seen at two places or more: tenant, worker and texts confirm each other'),
        ('truncated', 'text in the cut is not searched; nothing found there proves nothing'),
        ('partial_stream', 'the answer broke off in the log; its rest is not searched'),
        ('redacted', 'the text was removed by the source'),
        ('encrypted', 'the text is there and cannot be read'),
        ('offloaded', 'the text lies in another object that was not given'),
        ('not_logged', 'the source was set not to log this text'),
        ('absent', 'no record holds this text'),
        ('no_tenant', 'not examinable; what was leaked from or to them cannot be told'),
        ('no_worker', 'who shared a worker with whom cannot be told'),
        ('no_received_time', 'what was earlier and may be a source cannot be told'),
        ('no_finished_time', 'who overlapped with whom cannot be told'),
        ('no_batch_or_slot', 'who shared a batch or a slot is derived from times at best'),
        ('one_vantage', 'where text changed on its way cannot be told; the tenant hangs on one log'),
        ('hours_without_requests', 'no request of this source in these hours of the case: idle, or not logged'),
        ('zone_assumed', 'times name no zone and were read as UTC'),
        ('year_assumed', 'times name no year; it was taken from the date of the file'),
        ('precision_seconds', 'order within a second is unknown'),
        ('clocks_apart', 'the clocks of two files differ by more than the calls explain'),
        ('texts_differ', 'two places log another text for the same call: the text changed between them'),
        ('rejected_lines', 'lines that no parser could read are not searched'),
        ('incomplete_files', 'the file was not read to its end')
),
fitting AS (
    SELECT f.finding, f.format, a.advice, a.since, a.source
    FROM (SELECT DISTINCT finding, format FROM found WHERE NOT there) f
    JOIN advice a ON a.finding = f.finding AND coalesce(f.format, '') LIKE a.format
    QUALIFY row_number() OVER (PARTITION BY f.finding, f.format ORDER BY length(a.format) DESC, a.format) = 1
)
SELECT f.finding, f.side, f.vantage, f.format, f.n, f.total, f.unit,
    CASE WHEN f.total > 0 THEN f.n / f.total END AS share,
    m.means, t.advice AS next_time, t.since, t.source
FROM found f
LEFT JOIN meanings m ON m.finding = f.finding
LEFT JOIN fitting t ON t.finding = f.finding AND t.format IS NOT DISTINCT FROM f.format AND NOT f.there
ORDER BY f.there DESC, share DESC NULLS LAST, f.finding, f.side, f.vantage, f.format
