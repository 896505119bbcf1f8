-- question: which tables hold what the controls measured on this case: planted leaks, limits, samples for review?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none

-- One row per passage that was planted into a copy of the case. Never the text. Offsets: code points of the altered field.
CREATE TABLE IF NOT EXISTS control_spikes (
    round              INTEGER NOT NULL,
    kind               VARCHAR NOT NULL,        -- copy | identifier | whole_response
    length             INTEGER NOT NULL,        -- code points of the passage before it was altered; 0: no length class
    form               VARCHAR NOT NULL,        -- verbatim | case_and_space | markdown | words_dropped | noise
    side               VARCHAR NOT NULL,        -- of the source: prompt | response
    near               BOOLEAN NOT NULL,        -- source on the same worker within 30 minutes
    script             VARCHAR NOT NULL,
    request            BIGINT NOT NULL,
    request_id         VARCHAR NOT NULL,
    field              VARCHAR NOT NULL,
    "start"            BIGINT NOT NULL,
    "end"              BIGINT NOT NULL,
    source_request_id  VARCHAR NOT NULL,
    source_tenant_id   VARCHAR,
    reported           BOOLEAN NOT NULL,        -- half of it or more is covered by fragments of any verdict
    probable           BOOLEAN NOT NULL,        -- the same by fragments that are probable
    right_tenant       BOOLEAN NOT NULL,        -- a fragment over it names its source alone
    wrong_tenant       BOOLEAN NOT NULL,        -- a fragment over it names somebody else (also)
    kinds_found        VARCHAR[] NOT NULL
);

-- One row per figure. `class` says of what part: 'all', or 'length=80, side=prompt'.
CREATE TABLE IF NOT EXISTS controls (
    measure             VARCHAR NOT NULL,
    class               VARCHAR NOT NULL,
    value               DOUBLE,
    n                   BIGINT,
    total               BIGINT,
    low                 DOUBLE,
    high                DOUBLE,
    method              VARCHAR NOT NULL,
    attribution_digest  VARCHAR NOT NULL        -- of the run of attribution that was measured
);

-- One row per response without a finding that a person should read; drawn by stratum with a seed.
CREATE TABLE IF NOT EXISTS elusion_sample (
    stratum       VARCHAR NOT NULL,             -- likely | other
    stratum_size  BIGINT NOT NULL,
    request       BIGINT NOT NULL,
    request_id    VARCHAR NOT NULL
);

-- One row per reading of a response of the sample. Survives every rerun.
CREATE TABLE IF NOT EXISTS elusion_reviews (
    request_id  VARCHAR NOT NULL,
    decision    VARCHAR NOT NULL,               -- leak | clean | unsure
    name        VARCHAR NOT NULL,
    "at"          TIMESTAMP NOT NULL
);
