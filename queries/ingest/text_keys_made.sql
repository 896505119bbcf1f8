-- question: is there a text that could join two calls?
-- inputs:   text_keys
-- grain:    one row
-- parameters: none
-- order:    none
SELECT EXISTS (FROM text_keys)
