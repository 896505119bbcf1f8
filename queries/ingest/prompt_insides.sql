-- question: (effect) an empty scratch table for the texts that stand in others
-- inputs:   none
-- grain:    one row per distinct pair of texts of which one stands in the other
-- parameters: none
-- order:    none
CREATE OR REPLACE TEMP TABLE prompt_insides (search BIGINT)
