-- question: which table holds whose context explains a response?
-- inputs:   none
-- grain:    one statement per table; the grain of each table stands above it
-- parameters: none
-- order:    none

-- One row per fragment that was scored; a later scoring replaces it. Sums in nats, tokens counted in the response.
CREATE TABLE IF NOT EXISTS likelihoods (
    fragment_id      VARCHAR PRIMARY KEY,
    model            VARCHAR,                   -- that scored, as the server names it
    tokens_basis     VARCHAR NOT NULL,          -- logged: the engine's own; text: the response's text, tokenised again
    tokens           BIGINT NOT NULL,           -- scored
    source           BIGINT NOT NULL,           -- the named source that fits best, joined_requests.request
    part_start       BIGINT NOT NULL,           -- of the part that the source explains better, [start, end)
    part_end         BIGINT NOT NULL,
    total            DOUBLE NOT NULL,           -- of that part: log-likelihood ratio of the source's prompt to the recipient's
    needed           DOUBLE NOT NULL,
    runner_up        DOUBLE,                    -- of the best wrong source
    margin           DOUBLE,
    wrong_sources    BIGINT NOT NULL,
    rank             BIGINT NOT NULL,
    p_value          DOUBLE,                    -- null: fewer than 99 wrong sources
    own_per_token    DOUBLE NOT NULL,
    finding          VARCHAR NOT NULL,          -- supports | another_fits_better | none | not_assessed
    curve            DOUBLE[] NOT NULL          -- difference per token
);
