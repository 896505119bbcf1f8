-- question: which request used which text, on which side, in which field?
-- inputs:   request_contents, requests
-- grain:    one row per use
-- parameters: none
-- order:    content, request, side, field, vantage
SELECT
    uses.content,
    uses.request,
    uses.side,
    uses.field,
    uses.role,
    uses.ordinal,
    sightings.vantage
FROM request_contents AS uses
INNER JOIN requests AS sightings
    ON uses.key = sightings.key
ORDER BY uses.content, uses.request, uses.side, uses.field, sightings.vantage
