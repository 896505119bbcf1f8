-- question: (effect) forget the scratch tables of the join
-- inputs:   none
-- grain:    none
-- parameters: none
-- order:    none
DROP TABLE IF EXISTS record_groups;
DROP TABLE IF EXISTS request_rows;
DROP TABLE IF EXISTS request_ids;
DROP TABLE IF EXISTS request_roots;
DROP TABLE IF EXISTS request_tenants
