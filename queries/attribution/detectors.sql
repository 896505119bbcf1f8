-- question: how many responses did text reuse and identifiers find, each by itself and both?
-- inputs:   fragments
-- grain:    one row
-- parameters: none
-- order:    none
-- Named findings that are probable. An identifier inside a longer passage is counted by `identifiers_inside` of its features.
WITH responses AS (
    SELECT
        request,
        bool_or(kind <> 'identifier') AS by_text,
        bool_or(
            kind = 'identifier' OR coalesce((features::JSON ->> 'identifiers_inside')::BIGINT, 0) > 0
        ) AS by_identifier
    FROM fragments
    WHERE machine_verdict = 'probable' AND len(sources) > 0
    GROUP BY request
)
SELECT
    count(*) FILTER (WHERE by_text) AS by_text,
    count(*) FILTER (WHERE by_identifier) AS by_identifier,
    count(*) FILTER (WHERE by_text AND by_identifier) AS by_both
FROM responses
