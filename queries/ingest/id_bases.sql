-- question: (effect) from which id of another vantage may an id have been made?
-- inputs:   request_ids
-- grain:    one row per call x vantage x id that no other vantage knows x form that it fits
-- parameters: none
-- order:    none
-- Engines make their ids from the gateway's: vLLM puts a prefix before it, the prompt's index and (from 0.14) eight
-- hex digits behind it, and a choice's index before all; SGLang numbers the items of a batch. Whether the base is an id
-- that somebody logged is seen later; an id that is known elsewhere as it stands is never taken apart. Where there is one
-- vantage alone no id is looked at.
CREATE OR REPLACE TEMP TABLE id_bases AS
WITH strange AS (
    SELECT key, vantage, kind, id, brought
    FROM request_ids
    WHERE weight < 2
        AND (SELECT min(vantage) <> max(vantage) FROM request_ids)
        AND regexp_matches(id, '[-_]')
        AND id IN (SELECT id FROM request_ids GROUP BY id HAVING min(vantage) = max(vantage))
),
-- Patterns as literals: they are compiled once, not once per id.
taken_apart AS (
    SELECT key, vantage, kind, brought, unnest([
            {form: 'prefix', steps: 1, id: regexp_extract(id, '^(?:chatcmpl|cmpl|resp|msg|req)[-_](.+)$', 1)},
            {form: 'suffix', steps: 1, id: regexp_extract(id, '^(.{4,})-[0-9a-f]{8}$', 1)},
            {form: 'item', steps: 1, id: regexp_extract(id, '^(.{4,})_[0-9]{1,4}$', 1)},
            {form: 'index', steps: 1, id: regexp_extract(id, '^(cmpl-.+)-[0-9]{1,4}$', 1)},
            {form: 'child', steps: 1, id: regexp_extract(id, '^[0-9]{1,4}_(.{4,})$', 1)},
            {form: 'prefix, suffix', steps: 2, id: regexp_extract(id, '^(?:chatcmpl|cmpl|resp)[-_](.+)-[0-9a-f]{8}$', 1)},
            {form: 'prefix, index', steps: 2, id: regexp_extract(id, '^cmpl-(.+)-[0-9]{1,4}$', 1)},
            {form: 'prefix, item', steps: 2, id: regexp_extract(id, '^(?:chatcmpl|resp)[-_](.+)_[0-9]{1,4}$', 1)},
            {form: 'index, suffix', steps: 2, id: regexp_extract(id, '^(cmpl-.+)-[0-9]{1,4}-[0-9a-f]{8}$', 1)},
            {form: 'item, suffix', steps: 2, id: regexp_extract(id, '^(.{4,})_[0-9]{1,4}-[0-9a-f]{8}$', 1)},
            {form: 'child, suffix', steps: 2, id: regexp_extract(id, '^[0-9]{1,4}_((?:chatcmpl|cmpl|resp)[-_].+)-[0-9a-f]{8}$', 1)},
            {form: 'child, prefix', steps: 2, id: regexp_extract(id, '^[0-9]{1,4}_(?:chatcmpl|cmpl|resp)[-_](.+)$', 1)},
            {form: 'prefix, index, suffix', steps: 3, id: regexp_extract(id, '^cmpl-(.+)-[0-9]{1,4}-[0-9a-f]{8}$', 1)},
            {form: 'prefix, item, suffix', steps: 3, id: regexp_extract(id, '^(?:chatcmpl|resp)[-_](.+)_[0-9]{1,4}-[0-9a-f]{8}$', 1)},
            {form: 'child, prefix, suffix', steps: 3, id: regexp_extract(id, '^[0-9]{1,4}_(?:chatcmpl|cmpl|resp)[-_](.+)-[0-9a-f]{8}$', 1)},
            {form: 'child, index, suffix', steps: 3, id: regexp_extract(id, '^[0-9]{1,4}_(cmpl-.+)-[0-9]{1,4}-[0-9a-f]{8}$', 1)},
            {form: 'child, prefix, index, suffix', steps: 4, id: regexp_extract(id, '^[0-9]{1,4}_cmpl-(.+)-[0-9]{1,4}-[0-9a-f]{8}$', 1)}
        ]) AS base
    FROM strange
)
SELECT t.key, t.vantage, t.base.id AS id, min_by(t.kind, t.base.steps || t.kind) AS kind,
    min_by(t.base.form, t.base.steps || t.base.form) AS form, min(t.base.steps) AS steps,
    bool_and(t.brought) AS brought
FROM taken_apart t
WHERE t.base.id <> ''
    AND EXISTS (FROM request_ids o WHERE o.id = t.base.id AND o.vantage <> t.vantage AND o.weight < 2)
    AND NOT EXISTS (FROM request_ids o WHERE o.id = t.base.id AND o.vantage = t.vantage)
GROUP BY t.key, t.vantage, t.base.id
