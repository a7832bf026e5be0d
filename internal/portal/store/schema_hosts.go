package store

// schemaHosts adds what is known of a team's machines beside their addresses, and the final judging.
const schemaHosts = `
CREATE TABLE host_state (host VARCHAR(64) PRIMARY KEY, team VARCHAR(64) NOT NULL, digest VARCHAR(64) NOT NULL, agent VARCHAR(190) NOT NULL, boot VARCHAR(64) NOT NULL, ssh {text} NOT NULL, facts {text} NOT NULL,
 joined BIGINT NOT NULL, seen BIGINT NOT NULL, checked BIGINT NOT NULL, reached BIGINT NOT NULL, clock_off BIGINT NOT NULL, problem VARCHAR(400) NOT NULL){end};
CREATE INDEX host_state_digest ON host_state (digest);
ALTER TABLE jobs ADD COLUMN pin VARCHAR(64) NOT NULL DEFAULT '';
CREATE TABLE final_teams (round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, place BIGINT NOT NULL, PRIMARY KEY (round, team)){end};
CREATE TABLE final_plans (round VARCHAR(130) PRIMARY KEY, seed BIGINT NOT NULL, workers {text} NOT NULL, account VARCHAR(64) NOT NULL, at BIGINT NOT NULL){end};
CREATE TABLE final_steps (round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, number BIGINT NOT NULL, name VARCHAR(32) NOT NULL, at BIGINT NOT NULL, passed BIGINT NOT NULL, evidence {text} NOT NULL, account VARCHAR(64) NOT NULL, reason VARCHAR(800) NOT NULL, PRIMARY KEY (round, team, number)){end};
CREATE TABLE final_runs (job VARCHAR(64) PRIMARY KEY, round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, block BIGINT NOT NULL){end};
CREATE INDEX final_runs_round ON final_runs (round);
CREATE TABLE verdicts (round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, passed BIGINT NOT NULL, score DOUBLE PRECISION NOT NULL, reason VARCHAR(800) NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (round, team)){end};
CREATE TABLE disqualifications (id VARCHAR(64) PRIMARY KEY, round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, rule_number VARCHAR(64) NOT NULL, public_text {text} NOT NULL, evidence {text} NOT NULL, account VARCHAR(64) NOT NULL, at BIGINT NOT NULL,
 confirmed VARCHAR(64) NOT NULL, confirmed_at BIGINT NOT NULL, appeal BIGINT NOT NULL, lifted BIGINT NOT NULL, lifted_why VARCHAR(800) NOT NULL){end};
`
