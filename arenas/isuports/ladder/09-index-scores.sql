-- row: an index on player_score in the tenants' databases
-- told: 14,738 → 20,952
-- source: a team's write-up of the contest (Ruby, SQLite kept, one machine of three)
-- target: tenants
-- schema: tenants

CREATE INDEX score_idx ON player_score (tenant_id, competition_id, player_id, row_num DESC);
