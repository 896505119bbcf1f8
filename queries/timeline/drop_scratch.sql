-- question: (effect) forget the scratch tables of the timeline
-- inputs:   none
-- grain:    none
-- parameters: none
-- order:    none
DROP TABLE IF EXISTS call_names;
DROP TABLE IF EXISTS event_places;
DROP TABLE IF EXISTS probe_batches;
DROP TABLE IF EXISTS schedule_batches;
DROP TABLE IF EXISTS batch_keys;
DROP TABLE IF EXISTS batch_rows;
DROP TABLE IF EXISTS slot_stays;
DROP TABLE IF EXISTS llama_stays;
DROP TABLE IF EXISTS time_stats;
DROP TABLE IF EXISTS place_workers;
DROP TABLE IF EXISTS request_workers;
DROP TABLE IF EXISTS cached_prefixes;
DROP TABLE IF EXISTS exposed
