-- question: how many planted leaks were found, of which class, and what limits follow?
-- inputs:   controls
-- grain:    one row per measure and class
-- parameters: none
-- order:    measure, class
-- empty:    the controls have not run: `forensics controls CASE` measures what would be missed
SELECT measure, class, value, n, total, low, high, method
FROM controls
ORDER BY measure, class
