-- question: which rows of `exclusions` go to out/exclusions.parquet?
-- inputs:   exclusions
-- grain:    as the table
-- parameters: none
-- order:    request, field, start, end, rule, detail, holders
SELECT *
FROM exclusions
ORDER BY request, field, "start", "end", rule, detail, holders
