-- question: (effect) which texts of one page stand in the other of their pair?
-- inputs:   prompt_places, contents; adds to prompt_insides
-- grain:    one row per distinct pair of texts of which one stands in the other
-- parameters: page
-- order:    none
-- Templates trim what they put into a prompt.
INSERT INTO prompt_insides
SELECT p.search
FROM (SELECT DISTINCT search, content, other_content FROM prompt_places WHERE page = $page) p
JOIN contents x ON x.content = p.content
JOIN contents y ON y.content = p.other_content
WHERE contains(y.text, trim(x.text, E' \n\t'))
