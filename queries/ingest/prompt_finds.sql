-- question: (effect) which texts of one call's prompt stand in the prompt of the other?
-- inputs:   prompt_places, prompt_insides
-- grain:    one row per pair of calls to ask x one of the two x field of its prompt
-- parameters: none
-- order:    none
-- `found`: as a text of its own or inside one, null where the other logs no prompt; `rendered`: inside the prompt that the
-- other one logs as rendered, null where it logs none.
CREATE OR REPLACE TEMP TABLE prompt_finds AS
SELECT p.near, p.far, p.texts_of, p.field, any_value(p.code_points) AS code_points,
    CASE
        WHEN bool_or(p.equal) THEN TRUE
        WHEN count(p.other_content) > 0 THEN bool_or(i.search IS NOT NULL)
    END AS found,
    bool_or(i.search IS NOT NULL) FILTER (WHERE p.in_rendered) AS rendered
FROM prompt_places p
LEFT JOIN prompt_insides i ON i.search = p.search
GROUP BY p.near, p.far, p.texts_of, p.field
