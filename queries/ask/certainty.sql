-- question: how sure is each fragment, who is the runner-up, and by what margin?
-- inputs:   fragments, appearances, verdicts
-- grain:    one row per fragment
-- parameters: none
-- order:    net_bits (most first), fragment_id
-- empty:    no foreign text was found, so there is nothing to be sure of
-- Margin: how much more of the fragment the best named source covers than the best other holder, as a share of it.
WITH ranked AS (
    SELECT
        fragment_id,
        arg_min(source_tenant_id, rank) FILTER (WHERE named) AS best_tenant_id,
        max(similarity) FILTER (WHERE named) AS best_similarity,
        arg_min(source_tenant_id, rank) FILTER (WHERE NOT named) AS runner_up_tenant_id,
        max(similarity) FILTER (WHERE NOT named) AS runner_up_similarity
    FROM appearances
    GROUP BY fragment_id
)
SELECT
    f.fragment_id,
    f.recipient_request_id,
    coalesce(v.verdict, f.machine_verdict) AS verdict,
    v.basis AS verdict_basis,
    f.bits,
    f.net_bits,
    f.q_value,
    f.sources,
    r.best_similarity,
    r.runner_up_tenant_id,
    r.runner_up_similarity,
    CASE WHEN r.best_similarity IS NOT NULL THEN r.best_similarity - coalesce(r.runner_up_similarity, 0) END AS margin,
    f.verdict_reason
FROM fragments AS f
LEFT JOIN ranked AS r ON r.fragment_id = f.fragment_id
LEFT JOIN verdicts AS v ON v.fragment_id = f.fragment_id
ORDER BY f.net_bits DESC, f.fragment_id
