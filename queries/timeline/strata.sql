-- question: in which sets is a predicate true of the leak, and of how many of its controls?
-- inputs:   pair_facts, leak_pairs
-- grain:    one row per level, predicate and set
-- parameters: none
-- order:    level, predicate, set
WITH leaks AS (
    SELECT kind, level, pair_set, min(recipient) AS recipient, arg_min(source, member) AS source
    FROM leak_pairs
    WHERE control = 0
    GROUP BY kind, level, pair_set
)
SELECT
    f.level,
    f.predicate,
    f.pair_set,
    l.recipient,
    l.source,
    bool_or(f.holds) FILTER (WHERE f.control = 0) AS leak,
    count(*) FILTER (WHERE f.control > 0 AND f.holds IS NOT NULL) AS controls,
    count(*) FILTER (WHERE f.control > 0 AND f.holds) AS with_fact
FROM pair_facts AS f
INNER JOIN leaks AS l ON l.kind = f.kind AND l.level = f.level AND l.pair_set = f.pair_set
GROUP BY f.level, f.predicate, f.pair_set, l.recipient, l.source
ORDER BY f.level, f.predicate, f.pair_set
