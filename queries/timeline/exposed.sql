-- question: (effect) make the scratch table of requests that share a slot, a pass or a prefix with a leak
-- inputs:   none
-- grain:    one row per request and relation
-- parameters: none
-- order:    none
-- Affected ones are among them; `exposures` leaves them out.
CREATE OR REPLACE TEMP TABLE exposed (
    request      BIGINT NOT NULL,
    relation     VARCHAR NOT NULL,
    shared       VARCHAR NOT NULL,
    leaks        BIGINT NOT NULL,
    fragment_id  VARCHAR NOT NULL,
    predicate    VARCHAR NOT NULL,
    supported    BOOLEAN NOT NULL
)
