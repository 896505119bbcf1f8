-- question: which tables hold who was in which worker, slot and batch, when?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none

-- One row per stay of a request in a worker, and one per stay in a slot where slots are known. A request has at most one
-- row of phase `serve` and one of `run` (no slot), and any number of `slot`: it may be retracted and come back elsewhere.
CREATE TABLE IF NOT EXISTS residencies (
    request     BIGINT NOT NULL,
    worker      VARCHAR NOT NULL,               -- one scheduler: the request's worker, and its DP rank where it has several
    slot        VARCHAR,                        -- null in `serve` and `run` rows
    phase       VARCHAR NOT NULL,               -- serve: received to finished; run: first to last pass; slot: row given to freed
    "start"     TIMESTAMP NOT NULL,
    "end"       TIMESTAMP NOT NULL,
    basis       VARCHAR NOT NULL,               -- logged | derived
    confidence  DOUBLE NOT NULL,
    source      VARCHAR                         -- probe | llama_slots | free_list | schedule | time_stats | request_times
);

-- One row per forward pass, or per moment at which the engine said who ran (kind `running`).
CREATE TABLE IF NOT EXISTS batches (
    batch       BIGINT NOT NULL,
    worker      VARCHAR NOT NULL,
    iteration   BIGINT,
    "at"        TIMESTAMP,
    kind        VARCHAR NOT NULL,               -- prefill | decode | mixed | running | other
    basis       VARCHAR NOT NULL,               -- logged | derived
    size        BIGINT,                         -- how many requests the engine says it had; null where it does not say
    confidence  DOUBLE,
    source      VARCHAR                         -- probe | schedule | scheduler_status | batch_lines
);

-- Members that no request of the case explains (health checks, requests before the log) are left out: compare `size`.
CREATE TABLE IF NOT EXISTS batch_members (
    batch    BIGINT NOT NULL,
    request  BIGINT NOT NULL,
    slot     VARCHAR
);

-- One row per appearance x timeline fact that ties source and recipient together.
--   same_worker, same_slot, same_batch, same_prefix, slot_predecessor   yes | no | unknown
--   overlapped_us, source_finished_before_us, slot_gap_us, batches_shared, cache_excess_tokens   a number, or unknown
--   received_first          source | recipient | same_time | unknown
--   source_aborted, source_retracted, recipient_retracted   yes; no row where nothing says so
--   cache_hit_matched       yes: the recipient's cache hit beyond its own prefixes is explained by this source alone
CREATE TABLE IF NOT EXISTS appearance_relations (
    fragment_id  VARCHAR NOT NULL,
    rank         INTEGER NOT NULL,
    relation     VARCHAR NOT NULL,
    value        VARCHAR NOT NULL,
    basis        VARCHAR NOT NULL               -- logged | derived
);

-- One row per request whose engine says how much of its prompt came from the prefix cache.
CREATE TABLE IF NOT EXISTS cache_hits (
    request          BIGINT NOT NULL,
    worker           VARCHAR NOT NULL,
    "at"             TIMESTAMP,                 -- when its prefill was planned at the latest: first token, else finish
    cached_tokens    BIGINT NOT NULL,
    expected_tokens  BIGINT,                    -- longest prefix it shares with an earlier request of its own namespace; by
                                                -- kv_events: that the engine's own cache held for it
    expected_basis   VARCHAR NOT NULL,          -- kv_events | tokens | text | none
    excess_tokens    BIGINT,                    -- cached beyond expected and its tolerance; 0 where none; null: unknown
    matched_request  BIGINT,                    -- the earlier request of another namespace whose prefix explains the excess
    own_namespace    VARCHAR NOT NULL,          -- digest of salt, extra key and adapter; never the salt itself
    basis            VARCHAR NOT NULL,          -- logged: the count; derived: the count is the probe's match, not the answer's
    -- used | no_events, tokens_unknown, adapter, other_worker, hash_form_unknown, before_recording, after_recording, end_unknown, began_warm,
    -- gap, key_not_in_hash, same_step, retracted: why events of the cache do not judge it (docs/timeline.md)
    kv_events        VARCHAR
);

-- One row per pair of namespaces that the engine's release joins to one cache key.
CREATE TABLE IF NOT EXISTS cache_key_collisions (
    worker              VARCHAR NOT NULL,
    rule                VARCHAR NOT NULL,       -- salt_and_extra_key_concatenated | extra_key_and_lora_concatenated
    first_request       BIGINT NOT NULL,        -- the earliest request of each side
    second_request      BIGINT NOT NULL,
    first_requests      BIGINT NOT NULL,
    second_requests     BIGINT NOT NULL,
    version             VARCHAR,                -- of the engine, where the logs tell; null: unknown, the rule may not apply
    applies             VARCHAR NOT NULL        -- yes | no | unknown
);

-- One row per scheduler of an engine: how its slots were had, and what the check said.
CREATE TABLE IF NOT EXISTS slot_derivations (
    worker       VARCHAR NOT NULL,
    basis        VARCHAR NOT NULL,              -- logged | derived | withdrawn | none
    policy       VARCHAR,                       -- fifo | lifo
    version      VARCHAR,                       -- the engine's, as logged; null: unknown
    first_slot   BIGINT,                        -- 0, or 1 where row 0 is a padding row
    slots        BIGINT,                        -- rows of the pool, where known or shown by the logs
    stays        BIGINT NOT NULL,               -- stays of requests in the worker
    given        BIGINT NOT NULL,               -- of them, those with a slot
    checks       BIGINT NOT NULL,               -- batch lines and samples that a derived timeline was compared with
    agreed       BIGINT NOT NULL,
    reason       VARCHAR NOT NULL
);

-- One row per source of times x worker: what its clock shows more than the requests' clock, and was taken off.
CREATE TABLE IF NOT EXISTS event_clocks (
    source       VARCHAR NOT NULL,
    worker       VARCHAR NOT NULL,
    evidence     INTEGER,
    offset_us    BIGINT NOT NULL,
    residual_us  BIGINT,                        -- median absolute deviation; null: nothing to compare with
    n            BIGINT NOT NULL,
    basis        VARCHAR NOT NULL               -- same_clock, too_few: left alone | requests: taken off
);

-- One row per worker x time bucket: how many responses it finished and how many carry foreign text.
CREATE TABLE IF NOT EXISTS worker_rates (
    worker     VARCHAR NOT NULL,
    bucket     TIMESTAMP NOT NULL,
    responses  BIGINT NOT NULL,
    affected   BIGINT NOT NULL,
    basis      VARCHAR NOT NULL
);

-- Cases that an earlier release made.
ALTER TABLE cache_hits ADD COLUMN IF NOT EXISTS kv_events VARCHAR;
ALTER TABLE residencies ADD COLUMN IF NOT EXISTS source VARCHAR;
ALTER TABLE batches ADD COLUMN IF NOT EXISTS size BIGINT;
ALTER TABLE batches ADD COLUMN IF NOT EXISTS confidence DOUBLE;
ALTER TABLE batches ADD COLUMN IF NOT EXISTS source VARCHAR;
