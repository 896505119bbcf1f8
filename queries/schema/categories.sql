-- question: which tables say what kinds of delicate content the fragments seem to hold?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none

-- One row per label in force: what detectors saw, less what a person took back, and what a person added.
-- A fragment that nothing labelled has one row `not_classified`: that is no finding that it holds nothing delicate.
CREATE TABLE IF NOT EXISTS fragment_categories (
    fragment_id  VARCHAR NOT NULL,
    category     VARCHAR NOT NULL,              -- credential | email | phone | payment | government_id | account_id
                                                -- | health | special_category | child | code | not_classified | none
    detector     VARCHAR NOT NULL,              -- or `person`
    score        DOUBLE,                        -- 0 to 1, a rank and no probability; null: nothing measured it
    "start"      BIGINT NOT NULL,               -- code points of the response field, as those of the fragment
    "end"        BIGINT NOT NULL,
    checked      VARCHAR NOT NULL               -- yes | no: did a person accept the label?
);

-- One row per decision of a person about a label. Survives every rerun.
CREATE TABLE IF NOT EXISTS category_reviews (
    fragment_id  VARCHAR NOT NULL,
    category     VARCHAR NOT NULL,              -- as above; `none`: the person saw that no category applies
    decision     VARCHAR NOT NULL,              -- accept | reject | unsure
    reason       VARCHAR NOT NULL,
    name         VARCHAR NOT NULL,
    "at"         TIMESTAMP NOT NULL
);
