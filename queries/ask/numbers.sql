-- question: which figures do the reports print, and how was each obtained?
-- inputs:   numbers
-- grain:    one row per figure
-- parameters: none
-- order:    name
-- empty:    there are no figures yet: `forensics scope CASE` computes them
SELECT name, value, n, total, low, high, method
FROM numbers
ORDER BY name
