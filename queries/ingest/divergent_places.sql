-- question: (effect) where do two vantages log another text for the same call, and in which pairs of texts?
-- inputs:   content_uses, request_rows, request_roots
-- grain:    one row per call x side x field x pair of neighbouring vantages
-- parameters: none
-- order:    none
-- Vantage a is nearer to the engine. Engine and client are neighbours where no gateway logs a text on that side. A text that the
-- other vantage logs in another place (messages shifted by one) is no divergence. Fields that one of the two does not
-- have (the rendered prompt of an engine, the messages of a gateway) are not compared; but where one logs no text at all
-- and says that it logged everything, that is one.
CREATE OR REPLACE TEMP TABLE divergent_places AS
WITH several AS (
    SELECT t.key, t.request, q.vantage, q.prompt_state, q.response_state
    FROM request_roots t
    JOIN request_rows q ON q.key = t.key
    WHERE t.request IN (SELECT request FROM request_roots GROUP BY request HAVING count(*) > 1)
),
sides AS (
    SELECT key, request, vantage, 'prompt' AS side, prompt_state AS state FROM several
    UNION ALL
    SELECT key, request, vantage, 'response', response_state FROM several
),
logged AS (
    SELECT *
    FROM sides
    WHERE state IN ('full', 'truncated', 'partial_stream')
    QUALIFY count(*) OVER (PARTITION BY request, side) > 1
),
texts AS (
    SELECT s.request, s.vantage, u.side, u.field, max_by(u.content, u.record) AS content
    FROM content_uses u
    JOIN logged s ON s.key = u.key AND s.side = u.side
    GROUP BY s.request, s.vantage, u.side, u.field
),
told AS (SELECT DISTINCT request, vantage, side FROM texts),
neighbours AS (
    SELECT a.request, a.side, a.vantage AS vantage_a, b.vantage AS vantage_b, a.state AS state_a, b.state AS state_b
    FROM logged a
    JOIN logged b ON b.request = a.request AND b.side = a.side
    WHERE (a.vantage, b.vantage) IN (('engine', 'gateway'), ('gateway', 'client'))
        OR (a.vantage = 'engine' AND b.vantage = 'client' AND NOT EXISTS (
            FROM told t WHERE t.request = a.request AND t.side = a.side AND t.vantage = 'gateway'
        ))
),
other_text AS (
    SELECT n.request, n.side, a.field, n.vantage_a, n.vantage_b, a.content AS content_a, b.content AS content_b
    FROM neighbours n
    JOIN texts a ON a.request = n.request AND a.side = n.side AND a.vantage = n.vantage_a
    JOIN texts b ON b.request = n.request AND b.side = n.side AND b.vantage = n.vantage_b AND b.field = a.field
    WHERE a.content <> b.content
        AND NOT EXISTS (
            FROM texts o
            WHERE o.request = n.request AND o.side = n.side AND o.vantage = n.vantage_b AND o.content = a.content
        )
        AND NOT EXISTS (
            FROM texts o
            WHERE o.request = n.request AND o.side = n.side AND o.vantage = n.vantage_a AND o.content = b.content
        )
),
no_text AS (
    SELECT n.request, n.side, b.field, n.vantage_a, n.vantage_b, NULL::BIGINT AS content_a, b.content AS content_b
    FROM neighbours n
    JOIN texts b ON b.request = n.request AND b.side = n.side AND b.vantage = n.vantage_b
    WHERE n.state_a = 'full'
        AND NOT EXISTS (FROM told t WHERE t.request = n.request AND t.side = n.side AND t.vantage = n.vantage_a)
    UNION ALL
    SELECT n.request, n.side, a.field, n.vantage_a, n.vantage_b, a.content, NULL
    FROM neighbours n
    JOIN texts a ON a.request = n.request AND a.side = n.side AND a.vantage = n.vantage_a
    WHERE n.state_b = 'full'
        AND NOT EXISTS (FROM told t WHERE t.request = n.request AND t.side = n.side AND t.vantage = n.vantage_b)
),
places AS (FROM other_text UNION ALL FROM no_text)
SELECT *, dense_rank() OVER (ORDER BY side, content_a, content_b) - 1 AS pair
FROM places
