-- question: who looked at whose content, when, and for which stated reason?
-- inputs:   custody (the custody log, read from its file), fragments
-- grain:    one row per look, decision or question that was logged
-- parameters: none
-- order:    sequence
-- empty:    nobody has looked at content through this tool; whoever opened the evidence by other means is not in this log
-- The log is a chain of hashes that `forensics case verify` checks. Authority is what the person gave as reason, if anything.
SELECT
    c.sequence,
    c.utc,
    c.actor,
    c.action,
    c."object",
    f.recipient_tenant_id AS recipient_tenant_id,
    f.sources AS source_tenant_ids,
    c.reason
FROM custody AS c
LEFT JOIN fragments AS f ON c."object" = 'fragment ' || f.fragment_id
WHERE c.action IN ('reveal', 'review', 'trace', 'elusion', 'content')
ORDER BY c.sequence
