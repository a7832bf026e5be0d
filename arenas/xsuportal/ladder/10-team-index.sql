-- row: an index on the team of contestants
-- told: none
-- source: not in the write-up: our continuation on one machine
-- target: database
-- schema: xsuportal

ALTER TABLE contestants ADD INDEX team (team_id);
