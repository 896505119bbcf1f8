-- question: which files were read, as what, and how much of each is accounted for?
-- inputs:   evidence
-- grain:    one row per evidence file
-- parameters: none
-- order:    evidence
-- empty:    no evidence was read yet: `forensics ingest FILES --case CASE`
SELECT name, format, compression, bytes, content_bytes, records, repeated, rejected, blank, structure, complete, first_at, last_at, time_zone, time_zone_basis, sha256, container_sha256
FROM evidence
ORDER BY evidence
