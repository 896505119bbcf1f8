-- question: which tables hold the evidence once it is read?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none
-- All times are TIMESTAMP in UTC microseconds. All text offsets are code points. Keys are dense and start at 0.

-- One row per input file and per file that an archive holds; the archive's own row stands after those of its members
-- and counts what is not a member's: its syntax (structure) and what is damaged (rejected).
-- records + rejected + blank + structure = all lines; the *_bytes columns add up to content_bytes.
CREATE TABLE IF NOT EXISTS evidence (
    evidence          INTEGER PRIMARY KEY,
    name              VARCHAR NOT NULL,      -- file name as given, for display only; never used as a path
    sha256            VARCHAR NOT NULL,      -- of the file as it lies on disk, or of the member's bytes
    bytes             BIGINT NOT NULL,       -- of the file as it lies on disk, or of the member's bytes
    compression       VARCHAR NOT NULL,      -- none, or gzip | zstd | bzip2 | xz, several joined by + from the outside in
    content_bytes     BIGINT NOT NULL,       -- after decompression
    format            VARCHAR NOT NULL,      -- parser name, or unknown
    format_reason     VARCHAR NOT NULL,
    time_zone         VARCHAR NOT NULL,      -- zone that naive times were read in
    time_zone_basis   VARCHAR NOT NULL,      -- declared | assumed | absolute | inferred (joined calls fix it)
    year_basis        VARCHAR,               -- null: the times name their year; file_time: the file's date; inferred
    first_at          TIMESTAMP,
    last_at           TIMESTAMP,
    records           BIGINT NOT NULL,
    repeated          BIGINT NOT NULL,       -- records already known from earlier evidence (counted in records too)
    rejected          BIGINT NOT NULL,
    blank             BIGINT NOT NULL,
    structure         BIGINT NOT NULL,       -- recognised lines that are not records
    record_bytes      BIGINT NOT NULL,
    rejected_bytes    BIGINT NOT NULL,
    blank_bytes       BIGINT NOT NULL,
    structure_bytes   BIGINT NOT NULL,
    complete          BOOLEAN NOT NULL,      -- false: a limit or a damaged stream ended the reading early
    container_sha256  VARCHAR                -- of the archive that this file is a member of; null: given as a file
);

-- One row per unreadable record. Never the text.
CREATE TABLE IF NOT EXISTS rejects (
    evidence     INTEGER NOT NULL,
    byte_offset  BIGINT NOT NULL,            -- in the decompressed bytes
    length       BIGINT NOT NULL,
    line         BIGINT NOT NULL,            -- 1-based
    reason       VARCHAR NOT NULL,
    sha256       VARCHAR NOT NULL
);

-- One row per record read, repeats included: the ledger that `requests` is made from.
CREATE TABLE IF NOT EXISTS records (
    record             BIGINT NOT NULL,
    evidence           INTEGER NOT NULL,
    byte_offset        BIGINT NOT NULL,
    byte_length        BIGINT NOT NULL,
    line               BIGINT NOT NULL,
    record_digest      VARCHAR NOT NULL,     -- SHA-256 of the record's bytes
    part               VARCHAR NOT NULL,     -- whole | received | received_openai | finished | events
    request_id         VARCHAR NOT NULL,
    vantage            VARCHAR NOT NULL,
    tenant_id          VARCHAR,
    user_id            VARCHAR,
    endpoint           VARCHAR,
    model              VARCHAR,
    worker             VARCHAR,
    dp_rank            INTEGER,
    received_at        TIMESTAMP,
    first_token_at     TIMESTAMP,
    finished_at        TIMESTAMP,
    time_precision     VARCHAR,
    latency_us         BIGINT,
    status             VARCHAR,
    finish_reason      VARCHAR,
    prompt_tokens      BIGINT,
    completion_tokens  BIGINT,
    cached_tokens      BIGINT,
    stream             BOOLEAN,
    prompt_state       VARCHAR NOT NULL,
    response_state     VARCHAR NOT NULL
);

-- One row per further id, key or tenant header of a record.
CREATE TABLE IF NOT EXISTS record_ids (
    record  BIGINT NOT NULL,
    kind    VARCHAR NOT NULL,                -- response_id, rid, x-request-id, api_key (SHA-256), x-tenant-id ...
    id      VARCHAR NOT NULL
);

-- One row per use of a text by a record.
CREATE TABLE IF NOT EXISTS record_contents (
    record   BIGINT NOT NULL,
    side     VARCHAR NOT NULL,
    field    VARCHAR NOT NULL,
    role     VARCHAR NOT NULL,
    ordinal  INTEGER NOT NULL,
    content  BIGINT NOT NULL
);

-- One row per timed chunk of a record's answer; the chunk's code points of the choice's content.
CREATE TABLE IF NOT EXISTS record_chunks (
    record   BIGINT NOT NULL,
    choice   INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    "at"       TIMESTAMP,
    "start"  BIGINT NOT NULL,
    "end"    BIGINT NOT NULL
);

-- One row per record that tells how its answer was sampled, or which tokens it or its prompt was.
CREATE TABLE IF NOT EXISTS record_settings (
    record      BIGINT NOT NULL,
    sampling    VARCHAR,                     -- JSON, by SGLang's names: temperature, max_new_tokens, sampling_seed ...
    input_ids   INTEGER[],                   -- tokens of the whole prompt, in the engine's vocabulary
    output_ids  INTEGER[]                    -- those of the answer
);

-- One row per request x vantage: what one place recorded of one inference call.
-- `request` is the joined call (joined_requests); several rows share it when gateway and engine saw the same call.
CREATE TABLE IF NOT EXISTS requests (
    key                BIGINT PRIMARY KEY,
    request            BIGINT NOT NULL,
    evidence           INTEGER NOT NULL,
    byte_offset        BIGINT NOT NULL,
    byte_length        BIGINT NOT NULL,
    line               BIGINT NOT NULL,
    record_digest      VARCHAR NOT NULL,     -- of the record's bytes
    request_id         VARCHAR,
    ids                VARCHAR NOT NULL,     -- JSON object: every other id the record holds
    vantage            VARCHAR NOT NULL,     -- client | gateway | engine
    tenant_id          VARCHAR,
    user_id            VARCHAR,
    endpoint           VARCHAR,
    model              VARCHAR,
    worker             VARCHAR,
    received_at        TIMESTAMP,
    first_token_at     TIMESTAMP,
    finished_at        TIMESTAMP,
    time_precision     VARCHAR,              -- s | ms | us | ns
    status             VARCHAR,
    finish_reason      VARCHAR,
    prompt_tokens      BIGINT,
    completion_tokens  BIGINT,
    cached_tokens      BIGINT,
    stream             BOOLEAN,
    prompt_state       VARCHAR NOT NULL,     -- full | truncated | redacted | encrypted | offloaded | absent | not_logged | partial_stream
    response_state     VARCHAR NOT NULL
);

-- One row per inference call: its vantages joined. The row every list names.
CREATE TABLE IF NOT EXISTS joined_requests (
    request            BIGINT PRIMARY KEY,
    request_id         VARCHAR NOT NULL,     -- the gateway's id, else the engine's rid
    tenant_id          VARCHAR,              -- null: no source names the tenant
    tenant_basis       VARCHAR NOT NULL,     -- record | tenants_file | none
    isolation_unit     VARCHAR,              -- what may share text: the organisation, else the tenant (or user); null with the tenant
    user_id            VARCHAR,
    endpoint           VARCHAR,
    model              VARCHAR,
    worker             VARCHAR,
    received_at        TIMESTAMP,
    first_token_at     TIMESTAMP,
    finished_at        TIMESTAMP,
    status             VARCHAR,
    finish_reason      VARCHAR,
    prompt_tokens      BIGINT,
    completion_tokens  BIGINT,
    cached_tokens      BIGINT,
    stream             BOOLEAN,
    prompt_state       VARCHAR NOT NULL,     -- best state over the vantages
    response_state     VARCHAR NOT NULL,
    vantages           VARCHAR NOT NULL,     -- comma separated, sorted
    examinable         BOOLEAN NOT NULL,     -- tenant known, response and prompt full
    examinable_reason  VARCHAR NOT NULL      -- 'full', or what is missing
);

-- One row per pair of vantages x kind of id at each x form: how well that kind tells calls apart. The kind `request_id` is
-- the id that names the record. near/far: gateway and engine, gateway and client, engine and client.
CREATE TABLE IF NOT EXISTS join_keys (
    near_vantage    VARCHAR NOT NULL,
    far_vantage     VARCHAR NOT NULL,
    near_kind       VARCHAR NOT NULL,
    far_kind        VARCHAR NOT NULL,
    form            VARCHAR NOT NULL,        -- exact, or what must be taken off one id to get the other: 'prefix, suffix'
    near_ids        BIGINT NOT NULL,         -- distinct ids of the kind (of that form) at the near vantage
    near_repeated   BIGINT NOT NULL,         -- those of them that stand for several calls there
    far_ids         BIGINT NOT NULL,
    far_repeated    BIGINT NOT NULL,
    one_to_one      BIGINT NOT NULL,         -- shared ids that stand for one call at each
    one_to_many     BIGINT NOT NULL,         -- shared ids that stand for several calls at one of the two
    many_to_many    BIGINT NOT NULL,
    near_unmatched  BIGINT NOT NULL,
    far_unmatched   BIGINT NOT NULL,
    used            BOOLEAN NOT NULL,        -- false: too many of these ids repeat to trust those that do not
    rank            BIGINT NOT NULL          -- 1 is the best
);

-- One row per call x pair of its vantages that something joins. _no_prompt: by an id that came with the body of an answer,
-- with no prompts to check it by.
CREATE TABLE IF NOT EXISTS request_joins (
    request       BIGINT NOT NULL,
    near_key      BIGINT NOT NULL,
    far_key       BIGINT NOT NULL,
    near_vantage  VARCHAR NOT NULL,
    far_vantage   VARCHAR NOT NULL,
    basis         VARCHAR NOT NULL,          -- id | derived_id | shared_id, each also with _no_prompt | id_and_text | text_and_time | text
    near_kind     VARCHAR,                   -- null where a text joins
    far_kind      VARCHAR,
    form          VARCHAR NOT NULL           -- of the ids, as in join_keys; else which text: prompt, response, prompt and response
);

-- One row per vantage x other vantage x outcome.
CREATE TABLE IF NOT EXISTS join_outcomes (
    vantage        VARCHAR NOT NULL,
    other_vantage  VARCHAR NOT NULL,
    outcome        VARCHAR NOT NULL,         -- joined | one_to_many | many_to_one | many_to_many | tie | *_differs | not_corroborated | not_used | custom_id_not_sure | unmatched
    requests       BIGINT NOT NULL
);

-- One row per pair of files with joined calls, and one per pair of vantages (no files). What the far clock shows more.
CREATE TABLE IF NOT EXISTS clock_offsets (
    near_vantage   VARCHAR NOT NULL,
    far_vantage    VARCHAR NOT NULL,
    near_evidence  INTEGER,
    far_evidence   INTEGER,
    offset_us      BIGINT NOT NULL,          -- median over the calls
    low_us         BIGINT,                   -- the offset can not be less, since a call lies inside itself as seen farther out
    high_us        BIGINT,                   -- nor more; low > high: the clocks drifted, or a call was joined wrongly
    residual_us    BIGINT NOT NULL,          -- median absolute deviation
    n              BIGINT NOT NULL,          -- joined calls with times at both
    basis          VARCHAR NOT NULL          -- ids | texts | ids and texts, then what was compared: starts and ends | starts or ends | mixed
);

-- One row per text of a call that two vantages log differently. Never the text.
CREATE TABLE IF NOT EXISTS divergences (
    request      BIGINT NOT NULL,
    side         VARCHAR NOT NULL,
    field        VARCHAR NOT NULL,
    vantage_a    VARCHAR NOT NULL,           -- nearer to the engine
    vantage_b    VARCHAR NOT NULL,
    kind         VARCHAR NOT NULL,           -- whitespace | special_tokens | truncated | prefix | suffix | contained | empty | added | different
    first_at     BIGINT NOT NULL,            -- code point where they first differ, in both
    code_points_a  BIGINT NOT NULL,
    code_points_b  BIGINT NOT NULL,
    content_a    BIGINT,                     -- null: no text there
    content_b    BIGINT
);

-- One row per distinct text.
CREATE TABLE IF NOT EXISTS contents (
    content      BIGINT PRIMARY KEY,
    digest       VARCHAR NOT NULL,           -- 128 bit BLAKE2b of the UTF-8 bytes, hex
    text         VARCHAR NOT NULL USING COMPRESSION zstd,
    code_points  BIGINT NOT NULL,
    bytes        BIGINT NOT NULL
);

-- One row per use of a text by a request.
CREATE TABLE IF NOT EXISTS request_contents (
    request  BIGINT NOT NULL,
    key      BIGINT NOT NULL,                -- the vantage's row in requests
    side     VARCHAR NOT NULL,               -- prompt | response
    field    VARCHAR NOT NULL,               -- field path, e.g. messages[3].content, choices[0].content
    role     VARCHAR NOT NULL,               -- system | user | assistant | tool | prompt | response
    ordinal  INTEGER NOT NULL,
    content  BIGINT NOT NULL
);

-- One row per stream chunk with a time.
CREATE TABLE IF NOT EXISTS chunks (
    key      BIGINT NOT NULL,
    choice   INTEGER NOT NULL,
    seq      INTEGER NOT NULL,
    "at"       TIMESTAMP,
    "start"  BIGINT NOT NULL,
    "end"    BIGINT NOT NULL
);

-- One row per request x vantage that tells how its answer was sampled, or which tokens it or its prompt was.
CREATE TABLE IF NOT EXISTS request_settings (
    key      BIGINT NOT NULL,
    sampling VARCHAR,                        -- JSON, as in record_settings
    input    BIGINT,                         -- the record whose input_ids are the prompt's (record_settings); null: not logged
    output   BIGINT                          -- the record whose output_ids these are (record_settings); null: not logged
);

-- One row per fact that an engine logged.
CREATE TABLE IF NOT EXISTS engine_events (
    evidence    INTEGER NOT NULL,
    byte_offset BIGINT NOT NULL,             -- of the line in the decompressed bytes
    "at"          TIMESTAMP,
    worker      VARCHAR,
    kind        VARCHAR NOT NULL,
    request_id  VARCHAR,
    slot        VARCHAR,
    batch       VARCHAR,
    iteration   BIGINT,
    counts      VARCHAR,
    attributes  VARCHAR
);

-- One row per event of an engine's prefix cache; what followed on within a batch is one event.
CREATE TABLE IF NOT EXISTS kv_events (
    evidence    INTEGER NOT NULL,
    byte_offset BIGINT NOT NULL,             -- of the line in the decompressed bytes
    ordinal     INTEGER NOT NULL,            -- place in the batch
    "at"          TIMESTAMP,                 -- when the engine published the batch: at the end of a prefill, of some decode steps, or idle
    worker      VARCHAR,
    dp_rank     INTEGER,                     -- each data-parallel rank has a cache of its own
    seq         BIGINT,                      -- number of the batch, from 0 in each process; null: not recorded, gaps cannot be seen
    kind        VARCHAR NOT NULL,            -- blocks_stored | blocks_removed | cache_flush | kv_seen (nothing, but recorded until then)
    block_size  INTEGER,                     -- tokens
    medium      VARCHAR,                     -- GPU | CPU_PINNED | DISK | EXTERNAL, as the engine says
    parent      BIGINT,                      -- hash of the block before the first; null: the first block of a prompt
    salt        VARCHAR,                     -- digests, never the keys themselves
    adapter     VARCHAR,
    session     VARCHAR,
    blocks      BIGINT[]                     -- their hashes, 64 signed bits; those of another form by a digest
);

-- One row per line of a --tenants file.
CREATE TABLE IF NOT EXISTS tenants (
    key_kind      VARCHAR NOT NULL,          -- request_id | user | api_key | header | tenant | any
    key           VARCHAR NOT NULL,
    tenant_id     VARCHAR NOT NULL,
    organisation  VARCHAR,
    legal_name    VARCHAR,
    contact       VARCHAR,
    country       VARCHAR,
    language      VARCHAR
);

-- One row per stage run.
CREATE TABLE IF NOT EXISTS stages (
    stage         VARCHAR PRIMARY KEY,
    version       VARCHAR NOT NULL,
    parameters    VARCHAR NOT NULL,          -- JSON
    input_digest  VARCHAR NOT NULL,
    outputs       VARCHAR NOT NULL,          -- JSON: row counts
    summary       VARCHAR NOT NULL           -- JSON: what the stage reported
);

-- One row per thing to switch on so that the next incident's logs say more: shipped with the program, by format.
CREATE TABLE IF NOT EXISTS advice (
    format   VARCHAR NOT NULL,               -- pattern (LIKE) of evidence.format; % is for all others
    finding  VARCHAR NOT NULL,               -- as `ask readiness` names it
    advice   VARCHAR NOT NULL,
    since    VARCHAR NOT NULL,               -- versions that have it; 'any', or 'not checked'
    source   VARCHAR NOT NULL                -- where that is known from
);
