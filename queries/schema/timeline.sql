-- question: which tables hold who was in which worker, slot and batch, when?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none

-- One row per stay of a request in a worker (and slot, where known).
CREATE TABLE IF NOT EXISTS residencies (
    request     BIGINT NOT NULL,
    worker      VARCHAR NOT NULL,
    slot        VARCHAR,
    phase       VARCHAR NOT NULL,               -- serve: received to finished; prefill, decode where logged
    "start"     TIMESTAMP NOT NULL,
    "end"       TIMESTAMP NOT NULL,
    basis       VARCHAR NOT NULL,               -- logged | derived
    confidence  DOUBLE NOT NULL
);

CREATE TABLE IF NOT EXISTS batches (
    batch      BIGINT NOT NULL,
    worker     VARCHAR NOT NULL,
    iteration  BIGINT,
    "at"         TIMESTAMP,
    kind       VARCHAR NOT NULL,
    basis      VARCHAR NOT NULL
);

CREATE TABLE IF NOT EXISTS batch_members (
    batch    BIGINT NOT NULL,
    request  BIGINT NOT NULL,
    slot     VARCHAR
);

-- One row per appearance x timeline fact that ties source and recipient together.
CREATE TABLE IF NOT EXISTS appearance_relations (
    fragment_id  VARCHAR NOT NULL,
    rank         INTEGER NOT NULL,
    relation     VARCHAR NOT NULL,              -- same_worker | overlapped | source_finished_before | source_aborted ...
    value        VARCHAR NOT NULL,
    basis        VARCHAR NOT NULL
);

-- One row per worker x time bucket: how many responses it finished and how many carry foreign text.
CREATE TABLE IF NOT EXISTS worker_rates (
    worker     VARCHAR NOT NULL,
    bucket     TIMESTAMP NOT NULL,
    responses  BIGINT NOT NULL,
    affected   BIGINT NOT NULL,
    basis      VARCHAR NOT NULL
);
