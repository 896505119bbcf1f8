-- question: which rows of `control_spikes` go to out/control_spikes.parquet?
-- inputs:   control_spikes
-- grain:    as the table
-- parameters: none
-- order:    round, request, field
SELECT *
FROM control_spikes
ORDER BY round, request, field
