-- question: which tables hold what replays showed?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none

-- One row per replay trial. Survives every rerun of the stages; a plan that is judged again replaces its own rows.
CREATE TABLE IF NOT EXISTS trials (
    plan_id      VARCHAR NOT NULL,
    fragment_id  VARCHAR NOT NULL,
    arm          VARCHAR NOT NULL,
    trial        INTEGER NOT NULL,
    seed         BIGINT,
    server       VARCHAR,                       -- JSON: version, model, flags, address, digest
    valid        BOOLEAN NOT NULL,              -- whether it counts
    hit          BOOLEAN,                       -- foreign text of a request of this trial in the recipient's response
    absent       BOOLEAN,                       -- foreign text of a request that was not sent
    from_source  BOOLEAN,                       -- of a planned source
    foreign_chars BIGINT,                       -- code points
    elsewhere    BIGINT,                        -- other responses of the trial with foreign text
    sources      VARCHAR[],                     -- keys of the plan
    response     VARCHAR,                       -- digest of the recipient's response
    problem      VARCHAR NOT NULL,              -- why it does not count, else empty
    started      VARCHAR[],                     -- keys in the order in which they were sent
    idle         BOOLEAN,                       -- whether the server was empty afterwards
    milliseconds BIGINT
);

-- One row per leak of a plan that was run.
CREATE TABLE IF NOT EXISTS replay_verdicts (
    plan_id      VARCHAR NOT NULL,
    fragment_id  VARCHAR NOT NULL,
    verdict      VARCHAR NOT NULL,              -- reproduced | reproduced_in_company | cured_by_SWITCH | not_reproduced
                                                -- | model_memory | inconclusive
    because      VARCHAR NOT NULL,
    text         VARCHAR NOT NULL,              -- surrogate | original
    figures      VARCHAR NOT NULL               -- JSON: arms with rates, intervals and tests, cures
);

-- One row per plan that was run: what holds for all of its leaks.
CREATE TABLE IF NOT EXISTS replays (
    plan_id      VARCHAR PRIMARY KEY,
    facts        VARCHAR NOT NULL               -- JSON: servers, notes, assumptions, trials that carried over
);

-- Cases that an earlier release made; it had no trials to fill in.
ALTER TABLE trials ADD COLUMN IF NOT EXISTS plan_id VARCHAR;
ALTER TABLE trials ADD COLUMN IF NOT EXISTS valid BOOLEAN;
ALTER TABLE trials ADD COLUMN IF NOT EXISTS absent BOOLEAN;
ALTER TABLE trials ADD COLUMN IF NOT EXISTS from_source BOOLEAN;
ALTER TABLE trials ADD COLUMN IF NOT EXISTS foreign_chars BIGINT;
ALTER TABLE trials ADD COLUMN IF NOT EXISTS elsewhere BIGINT;
ALTER TABLE trials ADD COLUMN IF NOT EXISTS sources VARCHAR[];
ALTER TABLE trials ADD COLUMN IF NOT EXISTS response VARCHAR;
ALTER TABLE trials ADD COLUMN IF NOT EXISTS problem VARCHAR;
ALTER TABLE trials ADD COLUMN IF NOT EXISTS started VARCHAR[];
ALTER TABLE trials ADD COLUMN IF NOT EXISTS idle BOOLEAN;
ALTER TABLE trials ADD COLUMN IF NOT EXISTS milliseconds BIGINT;
