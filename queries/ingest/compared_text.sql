-- question: (effect) what did the comparison of texts find?
-- inputs:   compared_texts
-- grain:    one row per pair of texts given
-- parameters: pairs, kinds, firsts (lists of equal length)
-- order:    none
INSERT INTO compared_texts
SELECT unnest($pairs::BIGINT[]), unnest($kinds::VARCHAR[]), unnest($firsts::BIGINT[])
