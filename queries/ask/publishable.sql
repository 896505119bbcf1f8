-- question: which figures may be published, rounded to what, and does a small group identify a customer?
-- inputs:   numbers
-- grain:    one row per figure
-- parameters: none
-- order:    publish (yes, banded, no), name
-- empty:    there are no figures yet: `forensics scope CASE` computes them
-- Counts of customers below 5 are banded, times go outward to the minute, ids stay. Whoever publishes still asks whether a
-- date and an industry together name somebody.
WITH plain AS (
    SELECT name, value ->> '$' AS text, n, total, low, high, method, TRY_CAST(value ->> '$' AS DOUBLE) AS number
    FROM numbers
),
sorted_out AS (
    SELECT
        *,
        contains(name, 'tenants') OR name LIKE 'exposures%' AS of_customers,
        name LIKE 'window.%_request' AS is_id,
        regexp_full_match(coalesce(text, ''), '[0-9]{4}-[0-9]{2}-[0-9]{2}T.*Z') AS is_time
    FROM plain
)
SELECT
    name,
    CASE
        WHEN text IS NULL THEN 'no'
        WHEN is_id OR name LIKE 'fact.%' OR name LIKE 'controls.%' THEN 'no'
        WHEN of_customers AND n BETWEEN 1 AND 4 THEN 'banded'
        ELSE 'yes'
    END AS publish,
    CASE
        WHEN text IS NULL OR is_id OR name LIKE 'fact.%' OR name LIKE 'controls.%' THEN NULL
        WHEN of_customers AND n BETWEEN 1 AND 4 THEN 'fewer than 5' || coalesce(' of ' || total, '')
        WHEN is_time AND (name LIKE '%last%' OR name LIKE '%latest%' OR name LIKE '%closes%' OR name = 'fault.end')
            THEN strftime(date_trunc('minute', TRY_CAST(text AS TIMESTAMPTZ) AT TIME ZONE 'UTC' + INTERVAL 59999999 MICROSECOND), '%Y-%m-%d %H:%M UTC')
        WHEN is_time THEN strftime(date_trunc('minute', TRY_CAST(text AS TIMESTAMPTZ) AT TIME ZONE 'UTC'), '%Y-%m-%d %H:%M UTC')
        WHEN n IS NOT NULL AND total IS NOT NULL THEN n || ' of ' || total
        WHEN number IS NOT NULL AND number <> floor(number) THEN format('{:.2g}', number)
        ELSE text
    END AS publish_as,
    CASE
        WHEN text IS NULL THEN 'not measured: say that, and why'
        WHEN is_id THEN 'an id'
        WHEN name LIKE 'fact.%' OR name LIKE 'controls.%' THEN 'for the annex: it means little without its method'
        WHEN of_customers AND n BETWEEN 1 AND 4 THEN 'so few customers may be recognised'
        WHEN is_time THEN 'rounded outward to the minute'
        ELSE 'with its total and its method'
    END AS why
FROM sorted_out
ORDER BY list_position(['yes', 'banded', 'no'], publish), name
