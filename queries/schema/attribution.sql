-- question: which tables hold foreign fragments, their candidate sources, and what was dropped and why?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none

-- One row per foreign run in one response field. Offsets are code points of the decoded string as logged.
CREATE TABLE IF NOT EXISTS fragments (
    fragment_id           VARCHAR PRIMARY KEY,  -- stable: digest of recipient, field, offsets, text digest
    request               BIGINT NOT NULL,      -- recipient, joined_requests.request
    recipient_request_id  VARCHAR NOT NULL,
    recipient_tenant_id   VARCHAR,
    vantage               VARCHAR NOT NULL,
    field                 VARCHAR NOT NULL,
    "start"               BIGINT NOT NULL,
    "end"                 BIGINT NOT NULL,
    kind                  VARCHAR NOT NULL,     -- verbatim | altered | identifier | whole_response | structure | undetermined
    bits                  DOUBLE NOT NULL,      -- information of the matched text under the case's background
    net_bits              DOUBLE NOT NULL,      -- bits less the search charge
    q_value               DOUBLE,               -- null where decoys do not support one
    stratum               VARCHAR NOT NULL,
    machine_verdict       VARCHAR NOT NULL,     -- probable | possible | undetermined
    verdict_reason        VARCHAR NOT NULL,     -- one sentence, no log text
    sources               VARCHAR[] NOT NULL,   -- tenant ids: one = attributed, several = cannot be told apart, none = undetermined
    content               BIGINT NOT NULL,
    features              VARCHAR NOT NULL,     -- JSON: every figure the verdict rests on
    exclusions_tried      VARCHAR[] NOT NULL    -- names of the rules tried without success
);

-- One row per fragment x candidate source.
CREATE TABLE IF NOT EXISTS appearances (
    fragment_id        VARCHAR NOT NULL,
    rank               INTEGER NOT NULL,        -- 1 = best
    request            BIGINT NOT NULL,         -- source, joined_requests.request
    source_request_id  VARCHAR NOT NULL,
    source_tenant_id   VARCHAR,
    side               VARCHAR NOT NULL,        -- prompt | response
    field              VARCHAR NOT NULL,
    "start"            BIGINT NOT NULL,
    "end"              BIGINT NOT NULL,
    similarity         DOUBLE NOT NULL,         -- matched folded units / fragment's folded units, 0..1
    raw_identity       DOUBLE NOT NULL,         -- 1 - normalised edit distance over raw code points, 0..1
    named              BOOLEAN NOT NULL,        -- this tenant stands in fragments.sources
    lag_us             BIGINT,                  -- recipient finished - source received
    same_worker        BOOLEAN,
    overlapped         BOOLEAN,                 -- the two requests were in flight at the same time
    content            BIGINT NOT NULL
);

-- One row per candidate run that a rule dropped.
CREATE TABLE IF NOT EXISTS exclusions (
    request               BIGINT NOT NULL,
    recipient_request_id  VARCHAR NOT NULL,
    recipient_tenant_id   VARCHAR,
    field                 VARCHAR NOT NULL,
    "start"               BIGINT NOT NULL,
    "end"                 BIGINT NOT NULL,
    rule                  VARCHAR NOT NULL,     -- own_material | echo | shared | template | public_text | model_phrase | same_question | too_weak
    detail                VARCHAR NOT NULL,     -- counts and names of lists, no log text
    holders               INTEGER NOT NULL,     -- tenants that carry the text
    bits                  DOUBLE
);

-- One row per decoy stratum: how many targets and decoys won, and whether the decoys may be believed.
CREATE TABLE IF NOT EXISTS decoy_strata (
    stratum        VARCHAR PRIMARY KEY,
    family         VARCHAR NOT NULL,
    targets        BIGINT NOT NULL,
    decoys         BIGINT NOT NULL,
    exposure       DOUBLE NOT NULL,             -- decoy / target exposure
    null_near      BIGINT NOT NULL,             -- null matches with lag in (-W/4, 0)
    null_far       BIGINT NOT NULL,             -- null matches with lag in (-4W, -W)
    rate_ratio     DOUBLE,
    p_value        DOUBLE,
    low_targets    BIGINT,                      -- winning targets among the weakest quarter of shared matches
    low_decoys     BIGINT,
    low_p_value    DOUBLE,                      -- of so many targets or more there, if decoys are like them
    score          VARCHAR NOT NULL,            -- bits | learned: what competed
    accepted       BIGINT,                      -- targets with q <= 0.05; null: no q-value is printed
    false_share_bound DOUBLE,                   -- 95 % upper bound of the share of false ones among them
    expected_false DOUBLE,                      -- false ones to expect among all winning targets
    valid          BOOLEAN NOT NULL,
    reason         VARCHAR NOT NULL
);

-- One row per human decision. Survives every rerun. Where and whose the passage was when it was decided on stands
-- beside it (null: not recorded), so that a later run that says otherwise is noticed.
CREATE TABLE IF NOT EXISTS reviews (
    fragment_id           VARCHAR NOT NULL,
    decision              VARCHAR NOT NULL,     -- accept | reject | unsure
    reason                VARCHAR NOT NULL,
    name                  VARCHAR NOT NULL,
    "at"                    TIMESTAMP NOT NULL,
    recipient_request_id  VARCHAR,
    field                 VARCHAR,
    "start"                 BIGINT,
    "end"                   BIGINT,
    sources               VARCHAR[]
);

-- Cases that an earlier release made.
ALTER TABLE reviews ADD COLUMN IF NOT EXISTS recipient_request_id VARCHAR;
ALTER TABLE reviews ADD COLUMN IF NOT EXISTS field VARCHAR;
ALTER TABLE reviews ADD COLUMN IF NOT EXISTS "start" BIGINT;
ALTER TABLE reviews ADD COLUMN IF NOT EXISTS "end" BIGINT;
ALTER TABLE reviews ADD COLUMN IF NOT EXISTS sources VARCHAR[];

-- One row per fragment with a decision that counts: the last one, unless it was about other sources than those that
-- are named now. A fragment whose passage changed has another id, so a decision about the old one does not count.
CREATE OR REPLACE VIEW standing_reviews AS
WITH last_reviews AS (
    SELECT fragment_id, decision, reason, name, "at", sources
    FROM reviews
    QUALIFY row_number() OVER (PARTITION BY fragment_id ORDER BY "at" DESC, name DESC, decision DESC) = 1
)
SELECT r.fragment_id, r.decision, r.reason, r.name, r."at"
FROM last_reviews AS r
INNER JOIN fragments AS f ON f.fragment_id = r.fragment_id
WHERE r.sources IS NULL OR list_sort(r.sources) = list_sort(f.sources);

-- One row per set of public texts that an analyst gave. Survives every rerun; its digest is an input of attribution.
CREATE TABLE IF NOT EXISTS reference_sets (
    name         VARCHAR PRIMARY KEY,
    sha256       VARCHAR NOT NULL,              -- of the file, or over names and digests of a folder's files
    bytes        BIGINT NOT NULL,
    texts        BIGINT NOT NULL,
    code_points  BIGINT NOT NULL,
    rejected     BIGINT NOT NULL,               -- lines and files that held no text
    grams        BIGINT NOT NULL,
    tokens       BIGINT NOT NULL
);

-- One row per fingerprint of a reference; repeats are possible. Never the text.
CREATE TABLE IF NOT EXISTS reference_fingerprints (
    name  VARCHAR NOT NULL,
    kind  VARCHAR NOT NULL,                     -- gram | token
    hash  BIGINT NOT NULL
);
