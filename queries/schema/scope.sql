-- question: which tables hold the lists and figures that leave the analysis?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none

-- One row per fragment: the verdict, computed from machine verdict, reviews and trials by one query.
CREATE TABLE IF NOT EXISTS verdicts (
    fragment_id  VARCHAR PRIMARY KEY,
    verdict      VARCHAR NOT NULL,              -- confirmed | probable | possible | excluded | undetermined
    basis        VARCHAR NOT NULL
);

-- One row per recipient request with at least one fragment; `listed` says which file it stands in.
CREATE TABLE IF NOT EXISTS affected_requests (
    request         BIGINT PRIMARY KEY,
    request_id      VARCHAR NOT NULL,
    tenant_id       VARCHAR,
    received_at     TIMESTAMP,
    worker          VARCHAR,
    verdict         VARCHAR NOT NULL,           -- best over its fragments
    fragments       BIGINT NOT NULL,
    foreign_chars   BIGINT NOT NULL,            -- union of the fragments, code points
    source_tenants  VARCHAR[] NOT NULL,
    listed          VARCHAR NOT NULL            -- affected | possible
);

CREATE TABLE IF NOT EXISTS affected_tenants (
    tenant_id              VARCHAR PRIMARY KEY,
    role                   VARCHAR NOT NULL,    -- source | recipient | both
    notify                 VARCHAR NOT NULL,    -- yes | review | no
    verdict                VARCHAR NOT NULL,
    requests_as_recipient  BIGINT NOT NULL,
    requests_as_source     BIGINT NOT NULL,
    fragments              BIGINT NOT NULL,
    foreign_chars          BIGINT NOT NULL,
    first_at               TIMESTAMP,
    last_at                TIMESTAMP,
    categories             VARCHAR[] NOT NULL
);

-- One row per figure that any report prints.
CREATE TABLE IF NOT EXISTS numbers (
    name      VARCHAR PRIMARY KEY,
    value     VARCHAR,                          -- JSON scalar
    n         BIGINT,
    total     BIGINT,
    low       DOUBLE,
    high      DOUBLE,
    method    VARCHAR NOT NULL
);

-- One row per affected request x other call that holds its very answer: as an answer too (a cache, a retry), or in a later
-- prompt of the same tenant, whose program kept it.
CREATE OR REPLACE VIEW answer_copies AS
SELECT DISTINCT
    f.request,
    u.request AS copy,
    u.side
FROM fragments AS f
INNER JOIN affected_requests AS a ON a.request = f.request
INNER JOIN request_contents AS u ON u.content = f.content AND u.request <> f.request
INNER JOIN joined_requests AS j ON j.request = f.request
INNER JOIN joined_requests AS o ON o.request = u.request
WHERE a.listed = 'affected' AND (u.side = 'response' OR (o.tenant_id = j.tenant_id AND o.received_at > j.received_at));
