-- question: (effect) from which id of another vantage may an id have been made?
-- inputs:   request_ids
-- grain:    one row per call x vantage x id that no other vantage knows x form that it fits
-- parameters: none
-- order:    none
-- Engines make their ids from the gateway's: vLLM puts a prefix before it, the prompt's index and (from 0.14) eight
-- hex digits behind it, and a choice's index before all; SGLang numbers the items of a batch. Whether the base is an id
-- that somebody logged is seen later; an id that is known elsewhere as it stands is never taken apart.
CREATE OR REPLACE TEMP TABLE id_bases AS
WITH forms(form, pattern, steps) AS (
    VALUES
        ('prefix', '^(?:chatcmpl|cmpl|resp|msg|req)[-_](.+)$', 1),
        ('suffix', '^(.{4,})-[0-9a-f]{8}$', 1),
        ('item', '^(.{4,})_[0-9]{1,4}$', 1),
        ('index', '^(cmpl-.+)-[0-9]{1,4}$', 1),
        ('child', '^[0-9]{1,4}_(.{4,})$', 1),
        ('prefix, suffix', '^(?:chatcmpl|cmpl|resp)[-_](.+)-[0-9a-f]{8}$', 2),
        ('prefix, index', '^cmpl-(.+)-[0-9]{1,4}$', 2),
        ('prefix, item', '^(?:chatcmpl|resp)[-_](.+)_[0-9]{1,4}$', 2),
        ('index, suffix', '^(cmpl-.+)-[0-9]{1,4}-[0-9a-f]{8}$', 2),
        ('item, suffix', '^(.{4,})_[0-9]{1,4}-[0-9a-f]{8}$', 2),
        ('child, suffix', '^[0-9]{1,4}_((?:chatcmpl|cmpl|resp)[-_].+)-[0-9a-f]{8}$', 2),
        ('child, prefix', '^[0-9]{1,4}_(?:chatcmpl|cmpl|resp)[-_](.+)$', 2),
        ('prefix, index, suffix', '^cmpl-(.+)-[0-9]{1,4}-[0-9a-f]{8}$', 3),
        ('prefix, item, suffix', '^(?:chatcmpl|resp)[-_](.+)_[0-9]{1,4}-[0-9a-f]{8}$', 3),
        ('child, prefix, suffix', '^[0-9]{1,4}_(?:chatcmpl|cmpl|resp)[-_](.+)-[0-9a-f]{8}$', 3),
        ('child, index, suffix', '^[0-9]{1,4}_(cmpl-.+)-[0-9]{1,4}-[0-9a-f]{8}$', 3),
        ('child, prefix, index, suffix', '^[0-9]{1,4}_cmpl-(.+)-[0-9]{1,4}-[0-9a-f]{8}$', 4)
),
strange AS (
    SELECT key, vantage, kind, id
    FROM request_ids
    WHERE weight < 2
        AND id IN (SELECT id FROM request_ids GROUP BY id HAVING min(vantage) = max(vantage))
),
taken_apart AS (
    SELECT s.key, s.vantage, s.kind, f.form, f.steps, regexp_extract(s.id, f.pattern, 1) AS id
    FROM strange s
    CROSS JOIN forms f
    WHERE regexp_matches(s.id, f.pattern)
)
SELECT t.key, t.vantage, t.id, min_by(t.kind, t.steps || t.kind) AS kind, min_by(t.form, t.steps || t.form) AS form,
    min(t.steps) AS steps
FROM taken_apart t
WHERE EXISTS (FROM request_ids o WHERE o.id = t.id AND o.vantage <> t.vantage AND o.weight < 2)
    AND NOT EXISTS (FROM request_ids o WHERE o.id = t.id AND o.vantage = t.vantage)
GROUP BY t.key, t.vantage, t.id
