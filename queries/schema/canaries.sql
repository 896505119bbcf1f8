-- question: which strings were planted with which tenant, so that they give a leak away?
-- inputs:   none
-- grain:    one statement per table (RESTRICTED: it holds the planted strings)
-- parameters: none
-- order:    none

-- One row per line of a --canaries file that was accepted. Never exported, never printed; `label` is.
CREATE TABLE IF NOT EXISTS canaries (
    canary     VARCHAR NOT NULL,
    tenant_id  VARCHAR NOT NULL,
    label      VARCHAR NOT NULL,
    line       BIGINT NOT NULL           -- in the file, 1-based
);
