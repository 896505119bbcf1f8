-- question: which stays do the schedulers' lines of times tell, in the order of the lines?
-- inputs:   time_stats
-- grain:    one row per line that tells admission and end
-- parameters: none
-- order:    place, evidence, byte_offset
SELECT place, evidence, byte_offset, request, waited_us, admitted_us, done_us, coalesce(attempts, 1) > 1 AS doubtful
FROM time_stats
WHERE admitted_us IS NOT NULL AND done_us IS NOT NULL AND regime IN ('entry_time', 'monotonic')
ORDER BY place, evidence, byte_offset
