-- question: which tables hold what was tested of the cause, since when the fault was there, and who else shared it?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none

-- One row per member of a set: a leak (control 0) and what it is compared with (control 1, 2, ...).
-- source: the recipient stays, other tenants' requests take the place of the source. recipient: unaffected responses take
-- the place of the recipient, and there is no source.
CREATE TABLE IF NOT EXISTS leak_pairs (
    kind       VARCHAR NOT NULL,                -- source | recipient
    level      VARCHAR NOT NULL,                -- probable | possible
    pair_set   BIGINT NOT NULL,
    control    BIGINT NOT NULL,                 -- 0: the leak itself
    member     BIGINT NOT NULL,                 -- several requests of the one tenant may hold the text
    source     BIGINT,
    recipient  BIGINT NOT NULL
);

-- One row per set x leak or control x predicate.
CREATE TABLE IF NOT EXISTS pair_facts (
    kind       VARCHAR NOT NULL,
    level      VARCHAR NOT NULL,
    pair_set   BIGINT NOT NULL,
    control    BIGINT NOT NULL,
    predicate  VARCHAR NOT NULL,
    holds      BOOLEAN                          -- null: the logs do not say
);

-- One row per predicate x level.
CREATE TABLE IF NOT EXISTS predicate_tests (
    level          VARCHAR NOT NULL,            -- probable | possible
    predicate      VARCHAR NOT NULL,
    unit           VARCHAR NOT NULL,            -- pair | source | recipient: what is counted once
    status         VARCHAR NOT NULL,            -- stands | falls | too_few | no_contrast | no_controls | not_testable
    leaks          BIGINT NOT NULL,             -- sets with known leak and a known control
    leaks_with     BIGINT NOT NULL,
    controls       BIGINT NOT NULL,
    controls_with  BIGINT NOT NULL,
    unknown        BIGINT NOT NULL,             -- sets of which the logs do not say it
    odds_ratio     DOUBLE,                      -- conditional on the sets; infinite and 0 are possible
    low            DOUBLE,
    high           DOUBLE,
    p_value        DOUBLE,                      -- one-sided: more often with the leak than with its controls
    p_holm         DOUBLE,                      -- over all predicates of the level that could be tested
    p_beyond       DOUBLE,                      -- the same among leaks that the first predicate does not explain
    rank           BIGINT,                      -- 1 is the best of those that stand
    finding        VARCHAR NOT NULL             -- one sentence
);

-- One row per hypothesis of the catalogue (M1 to M28), judged on leaks that are probable.
CREATE TABLE IF NOT EXISTS mechanism_tests (
    hypothesis  VARCHAR NOT NULL,
    title       VARCHAR NOT NULL,
    status      VARCHAR NOT NULL,               -- stands | explained | falls | ruled_out | undecided | not_testable | no_text
    rank        BIGINT,                         -- of its class among those that stand
    class       VARCHAR NOT NULL,               -- hypotheses that the evidence cannot tell from it, itself included
    predicate   VARCHAR,                        -- the one that speaks for it most
    p_holm      DOUBLE,
    condition   VARCHAR NOT NULL,               -- what must be switched on for it, and whether the logs say so
    finding     VARCHAR NOT NULL,
    missing     VARCHAR NOT NULL,               -- what to switch on so that it can be tested next time
    seen_in     VARCHAR NOT NULL,               -- releases
    source      VARCHAR NOT NULL
);

-- One row per place x end of the time in which responses were affected.
CREATE TABLE IF NOT EXISTS fault_window (
    worker      VARCHAR,                        -- null: all together
    bound       VARCHAR NOT NULL,               -- onset | end
    "at"        TIMESTAMP,                      -- most likely; null: not within the logs
    low         TIMESTAMP,                      -- null: it may lie before (after) the logs
    high        TIMESTAMP,
    responses   BIGINT NOT NULL,                -- examined
    affected    BIGINT NOT NULL,
    log_odds    DOUBLE,                         -- natural log of the Bayes factor of a window against a constant rate
    event_kind  VARCHAR,                        -- an engine event inside the interval that may fix this end
    event_at    TIMESTAMP,
    finding     VARCHAR NOT NULL
);

-- One row per property of a response that was compared between affected and unaffected ones.
CREATE TABLE IF NOT EXISTS leak_factors (
    factor           VARCHAR NOT NULL,          -- worker | model | endpoint | stream | aborted | retried | cache_hit | ...
    value            VARCHAR NOT NULL,
    affected         BIGINT NOT NULL,           -- affected responses that have it
    affected_of      BIGINT NOT NULL,
    unaffected       BIGINT NOT NULL,
    unaffected_of    BIGINT NOT NULL,
    odds_ratio       DOUBLE,
    low              DOUBLE,
    high             DOUBLE,
    p_value          DOUBLE,                    -- two-sided
    p_holm           DOUBLE,
    finding          VARCHAR NOT NULL
);

-- One row per request without foreign text x relation to proven leaks.
CREATE TABLE IF NOT EXISTS exposures (
    request        BIGINT NOT NULL,
    request_id     VARCHAR NOT NULL,
    tenant_id      VARCHAR,
    received_at    TIMESTAMP,
    worker         VARCHAR,
    relation       VARCHAR NOT NULL,            -- slot | batch | prefix
    shared         VARCHAR NOT NULL,            -- slot, number of passes, or cached tokens
    leaks          BIGINT NOT NULL,             -- leaked responses it shares this with
    fragment_id    VARCHAR NOT NULL,            -- a fragment of one of them
    predicate      VARCHAR NOT NULL,
    supported      BOOLEAN NOT NULL,            -- the relation stands as mechanism
    examinable     BOOLEAN NOT NULL             -- false: foreign text may be there and could not be read
);

-- One row per call x id under which the engine knew it. The id of an OpenAI answer is the engine's own.
CREATE OR REPLACE VIEW engine_rids AS
SELECT DISTINCT request, rid
FROM (
    SELECT request, request_id AS rid
    FROM requests
    WHERE vantage = 'engine'
    UNION ALL
    SELECT request, ids::JSON ->> 'rid'
    FROM requests
    UNION ALL
    SELECT request, ids::JSON ->> 'response_id'
    FROM requests
)
WHERE rid IS NOT NULL;

-- One row per call that was ended from outside before it was done, or taken off its batch.
CREATE OR REPLACE VIEW interrupted_requests AS
SELECT request, 'aborted' AS how
FROM joined_requests
WHERE lower(finish_reason) LIKE '%abort%' OR lower(finish_reason) LIKE 'cancel%'
UNION
SELECT i.request, 'aborted'
FROM engine_events AS e
INNER JOIN engine_rids AS i ON i.rid = e.request_id
WHERE e.kind IN ('abort', 'probe_abort')
UNION
SELECT i.request, 'aborted'
FROM (
    SELECT unnest((attributes::JSON -> 'match')::VARCHAR[]) AS rid
    FROM engine_events
    WHERE kind = 'probe_abort'
) AS e
INNER JOIN engine_rids AS i ON i.rid = e.rid
UNION
SELECT i.request, 'aborted'
FROM engine_events AS e
INNER JOIN engine_rids AS i ON i.rid = e.request_id
WHERE e.kind = 'probe_finish' AND e.attributes::JSON ->> 'reason' = 'abort'
UNION
SELECT i.request, 'retracted'
FROM engine_events AS e
INNER JOIN engine_rids AS i ON i.rid = e.request_id
WHERE e.kind IN ('retraction', 'probe_retract');

-- One row per stay in a slot, with the request that had the slot before and after it.
CREATE OR REPLACE VIEW slot_neighbours AS
SELECT
    request,
    worker,
    slot,
    "start",
    "end",
    lag(request) OVER stays AS former,
    lead(request) OVER stays AS next
FROM residencies
WHERE slot IS NOT NULL
WINDOW stays AS (PARTITION BY worker, slot ORDER BY "start", "end", request);

-- One row per fragment that a person rejected, as the verdict has it.
CREATE OR REPLACE VIEW rejected_fragments AS
SELECT fragment_id
FROM standing_reviews
WHERE decision = 'reject';
