-- question: what does only a holder of the evidence know, to make the pseudonym key of?
-- inputs:   evidence, requests
-- grain:    one row
-- parameters: none
-- order:    none
-- The digests of the files may stand in a report; the digests of the records never leave the case.
SELECT
    (SELECT coalesce(string_agg(sha256, ',' ORDER BY sha256), '') FROM evidence) AS files,
    (SELECT sha256(coalesce(string_agg(record_digest, ',' ORDER BY record_digest), '')) FROM requests) AS records
