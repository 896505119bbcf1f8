-- question: (effect) an empty scratch table for what the comparison of texts found
-- inputs:   none
-- grain:    one row per distinct pair of texts
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE compared_texts (pair BIGINT, kind VARCHAR, first_at BIGINT)
