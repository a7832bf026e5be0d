-- row: the index on timestamp, the right column
-- told: 20,127 → 37,019
-- source: a team's write-up of the contest (Go, MariaDB, one to three machines), 11:49
-- target: database
-- schema: isucondition

ALTER TABLE isu_condition ADD INDEX uuid_timestamp (jia_isu_uuid, timestamp), DROP INDEX uuid_created;
