-- question: how often is something found where no leak can be: before the fault, in entrapment, among decoys?
-- inputs:   numbers, decoy_strata
-- grain:    one row per control, made or not
-- parameters: none
-- order:    before the fault, entrapment, decoys
-- empty:    never: a control that was not made says how to make it
WITH wanted (place, control, name) AS (
    VALUES
        (1, 'before the fault, probable', 'controls.false_positives.before.probable'),
        (2, 'before the fault, any verdict', 'controls.false_positives.before.any_verdict'),
        (3, 'texts of tenants who do not exist, probable', 'controls.entrapment.false_share.probable'),
        (4, 'texts of tenants who do not exist, any verdict', 'controls.entrapment.false_share.any_verdict')
),
made AS (
    SELECT
        w.place,
        w.control,
        n.n,
        n.total,
        n.low,
        n.high,
        coalesce(
            n.method,
            CASE WHEN w.place <= 2 THEN 'not measured: `forensics controls CASE --fault-began TIME` says when the fault began'
                ELSE 'not measured: `forensics controls CASE` gives public texts to tenants who do not exist' END
        ) AS method
    FROM wanted AS w
    LEFT JOIN numbers AS n ON n.name = w.name
    UNION ALL
    SELECT
        5,
        'decoys of ' || stratum,
        decoys,
        decoys + targets,
        NULL,
        NULL,
        CASE WHEN valid THEN 'matches with texts that came too late to be a source; believed: ' || reason
            ELSE 'not believed: ' || reason END
    FROM decoy_strata
)
SELECT control, n, total, low, high, method
FROM made
ORDER BY place, control
