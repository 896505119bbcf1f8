-- question: how far has the work of people come, and what do the logs say they are?
-- inputs:   fragments, reviews, evidence
-- grain:    one row
-- parameters: none
-- order:    none
SELECT
    (SELECT count(*) FROM fragments) AS fragments,
    (SELECT count(DISTINCT fragment_id) FROM reviews SEMI JOIN fragments USING (fragment_id)) AS reviewed,
    (SELECT list_sort(list_distinct(list(format))) FROM evidence WHERE records > 0) AS formats
