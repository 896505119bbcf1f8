-- question: were credentials or keys exposed, whose, of which type, so that they must be replaced?
-- inputs:   fragment_categories, fragments, verdicts
-- grain:    one row per fragment and detector that labelled a credential in it
-- parameters: none
-- order:    verdict, fragment_id, detector
-- empty:    no detector and no person labelled a credential in what was found; detectors miss what has no known shape
-- Never the credential: its place and the detector's name, which tells the type.
SELECT
    c.fragment_id,
    list_sort(f.sources) AS whose,
    f.recipient_request_id,
    f.recipient_tenant_id AS who_received_it,
    v.verdict,
    c.detector AS type_by,
    max(c.score) AS score,
    min(c."start") AS "start",
    max(c."end") AS "end",
    max(c.checked) AS checked,
    CASE WHEN v.verdict IN ('confirmed', 'probable') THEN 'replace it now' ELSE 'replace it if a person confirms the finding' END AS advice
FROM fragment_categories AS c
INNER JOIN fragments AS f ON f.fragment_id = c.fragment_id
INNER JOIN verdicts AS v ON v.fragment_id = c.fragment_id
WHERE c.category = 'credential' AND v.verdict <> 'excluded'
GROUP BY c.fragment_id, f.sources, f.recipient_request_id, f.recipient_tenant_id, v.verdict, c.detector
ORDER BY v.verdict, c.fragment_id, c.detector
