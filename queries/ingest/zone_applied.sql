-- question: (effect) what are the times in UTC of files whose zone or year is certain by now?
-- inputs:   zone_shifts
-- grain:    one row per record, per chunk, per engine line, per file
-- parameters: none
-- order:    none
UPDATE records
SET received_at = received_at - to_years(s.years) - to_minutes(15 * s.quarters),
    first_token_at = first_token_at - to_years(s.years) - to_minutes(15 * s.quarters),
    finished_at = finished_at - to_years(s.years) - to_minutes(15 * s.quarters)
FROM zone_shifts s
WHERE s.certain AND (s.years <> 0 OR s.quarters <> 0) AND records.evidence = s.evidence;
UPDATE record_chunks
SET "at" = record_chunks."at" - to_years(s.years) - to_minutes(15 * s.quarters)
FROM records r
JOIN zone_shifts s ON s.evidence = r.evidence
WHERE s.certain AND (s.years <> 0 OR s.quarters <> 0) AND r.record = record_chunks.record;
UPDATE engine_events
SET "at" = "at" - to_years(s.years) - to_minutes(15 * s.quarters)
FROM zone_shifts s
WHERE s.certain AND (s.years <> 0 OR s.quarters <> 0) AND engine_events.evidence = s.evidence;
UPDATE evidence
SET time_zone = CASE WHEN s.quarters = 0 THEN time_zone
        ELSE format(
            'UTC{}{:02d}:{:02d}', CASE WHEN s.quarters < 0 THEN '-' ELSE '+' END,
            abs(s.quarters) // 4, abs(s.quarters) % 4 * 15
        )
    END,
    time_zone_basis = CASE WHEN s.years <> 0 THEN time_zone_basis ELSE 'inferred' END,
    year_basis = CASE WHEN s.years = 0 THEN year_basis ELSE 'inferred' END
FROM zone_shifts s
WHERE s.certain AND evidence.evidence = s.evidence
