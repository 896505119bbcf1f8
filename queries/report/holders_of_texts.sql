-- question: whose are these texts?
-- inputs:   request_contents, joined_requests
-- grain:    one row per text, tenant and isolation unit
-- parameters: contents (list of content keys)
-- order:    content, tenant_id, isolation_unit
SELECT
    uses.content,
    requests.tenant_id,
    requests.isolation_unit,
    bool_or(uses.side = 'prompt') AS in_prompt,
    min(requests.request_id) AS request_id
FROM request_contents AS uses
INNER JOIN joined_requests AS requests
    ON uses.request = requests.request
WHERE uses.content IN (SELECT unnest($contents))
GROUP BY uses.content, requests.tenant_id, requests.isolation_unit
ORDER BY uses.content, requests.tenant_id NULLS LAST, requests.isolation_unit NULLS LAST
