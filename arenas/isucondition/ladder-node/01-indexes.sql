-- row: indexes on the columns of the queries: jia_isu_uuid, timestamp, jia_user_id, character
-- told: 1,124 → 1,347
-- source: a company's write-up about its second try at the contest (Node.js, one PC)
-- target: database
-- schema: isucondition

ALTER TABLE isu_condition ADD INDEX uuid_timestamp (jia_isu_uuid, timestamp);
ALTER TABLE isu ADD INDEX owner (jia_user_id);
ALTER TABLE isu ADD INDEX characters (character);
