package store

// schemaBeside has what stands beside the ranking: what happened to machines, prizes by hand, and
// hints that teams have opened.
const schemaBeside = `
CREATE TABLE host_events (id VARCHAR(64) PRIMARY KEY, host VARCHAR(64) NOT NULL, team VARCHAR(64) NOT NULL, at BIGINT NOT NULL, what VARCHAR(16) NOT NULL, detail VARCHAR(190) NOT NULL){end};
CREATE INDEX host_events_team ON host_events (team);
CREATE TABLE awards (id VARCHAR(64) PRIMARY KEY, round VARCHAR(130) NOT NULL, prize VARCHAR(64) NOT NULL, team VARCHAR(64) NOT NULL, at BIGINT NOT NULL, account VARCHAR(64) NOT NULL, reason VARCHAR(800) NOT NULL){end};
CREATE INDEX awards_round ON awards (round);
CREATE TABLE hint_uses (round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, hint VARCHAR(64) NOT NULL, at BIGINT NOT NULL, account VARCHAR(64) NOT NULL, PRIMARY KEY (round, team, hint)){end};
CREATE INDEX ghosts_round ON ghosts (round);
`
