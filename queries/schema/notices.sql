-- question: which tables hold letters, what people set in them, and their release?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none
-- No stage clears these: a released letter stays on record whatever is found later.

-- One row per fact that a person set. The last one of a key counts; one for a customer outweighs one for all.
CREATE TABLE IF NOT EXISTS notice_facts (
    tenant_ref  VARCHAR NOT NULL,               -- case pseudonym; empty: for all letters
    key         VARCHAR NOT NULL,               -- key of fields.json
    value       VARCHAR NOT NULL,
    status      VARCHAR NOT NULL,               -- known | estimated | not_applicable
    basis       VARCHAR NOT NULL,
    name        VARCHAR NOT NULL,               -- who set it
    "at"        TIMESTAMP NOT NULL
);

-- One row per version of a letter.
CREATE TABLE IF NOT EXISTS notices (
    tenant_id  VARCHAR NOT NULL,
    version    INTEGER NOT NULL,
    kind       VARCHAR NOT NULL,                -- source | recipient | both | clear | not_examined
    digest     VARCHAR NOT NULL                 -- SHA-256 of the contents, the number of the version left out
);

-- One row per file of a released letter.
CREATE TABLE IF NOT EXISTS notice_releases (
    tenant_id     VARCHAR NOT NULL,
    version       INTEGER NOT NULL,
    file          VARCHAR NOT NULL,
    sha256        VARCHAR NOT NULL,
    prepared_by   VARCHAR NOT NULL,
    approved_by   VARCHAR NOT NULL,
    acknowledged  VARCHAR[] NOT NULL,           -- fields that were unknown at release, each acknowledged
    "at"          TIMESTAMP NOT NULL
);
