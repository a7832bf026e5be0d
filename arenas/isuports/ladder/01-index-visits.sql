-- row: an index on visit_history in the admin database
-- told: 1,921 → 1,665
-- source: a team's write-up of the contest (Ruby, SQLite kept, one machine of three)
-- target: database
-- schema: isuports

ALTER TABLE visit_history ADD INDEX ranking_idx (tenant_id, competition_id, player_id, created_at);
