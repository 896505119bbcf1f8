-- question: which figures may a report print?
-- inputs:   numbers
-- grain:    one row per figure
-- parameters: none
-- order:    name
SELECT name, value, n, total, low, high, method
FROM numbers
ORDER BY name
