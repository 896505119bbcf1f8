-- question: (effect) forget the scratch tables of the join
-- inputs:   none
-- grain:    none
-- parameters: none
-- order:    none
DROP TABLE IF EXISTS batch_items;
DROP TABLE IF EXISTS record_groups;
DROP TABLE IF EXISTS request_rows;
DROP TABLE IF EXISTS request_ids;
DROP TABLE IF EXISTS id_bases;
DROP TABLE IF EXISTS content_uses;
DROP TABLE IF EXISTS join_candidates;
DROP TABLE IF EXISTS open_pairs;
DROP TABLE IF EXISTS pair_times;
DROP TABLE IF EXISTS prompt_places;
DROP TABLE IF EXISTS prompt_insides;
DROP TABLE IF EXISTS prompt_finds;
DROP TABLE IF EXISTS prompt_checks;
DROP TABLE IF EXISTS text_pairs;
DROP TABLE IF EXISTS timed_pairs;
DROP TABLE IF EXISTS join_round;
DROP TABLE IF EXISTS join_links;
DROP TABLE IF EXISTS join_refusals;
DROP TABLE IF EXISTS text_keys;
DROP TABLE IF EXISTS clock_calls;
DROP TABLE IF EXISTS clock_differences;
DROP TABLE IF EXISTS clock_estimates;
DROP TABLE IF EXISTS request_roots;
DROP TABLE IF EXISTS request_tenants;
DROP TABLE IF EXISTS divergent_places;
DROP TABLE IF EXISTS compared_texts;
DROP TABLE IF EXISTS zone_shifts
