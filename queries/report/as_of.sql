-- question: up to when does the evidence reach?
-- inputs:   evidence, joined_requests
-- grain:    one row
-- parameters: none
-- order:    none
SELECT strftime(
    coalesce(
        (SELECT max(last_at) FROM evidence),
        (SELECT max(coalesce(finished_at, received_at)) FROM joined_requests)
    ),
    '%Y-%m-%dT%H:%M:%S.%fZ'
) AS as_of
