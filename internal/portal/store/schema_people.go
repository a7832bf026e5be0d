package store

// schemaPeople has who takes part: memberships, sign-up, logins, and what is sent to people.
// The deliveries of the first schema were never written.
const schemaPeople = `
CREATE TABLE members (contest VARCHAR(64) NOT NULL, account VARCHAR(64) NOT NULL, team VARCHAR(64) NOT NULL, leads BIGINT NOT NULL, declares VARCHAR(190) NOT NULL, joined BIGINT NOT NULL, PRIMARY KEY (contest, account)){end};
CREATE INDEX members_team ON members (team);
CREATE INDEX members_account ON members (account);
INSERT INTO members (contest, account, team, leads, declares, joined) SELECT t.contest, a.id, a.team, CASE WHEN a.role = 'leader' THEN 1 ELSE 0 END, '', a.created FROM accounts a JOIN teams t ON t.id = a.team;
CREATE TABLE signups (team VARCHAR(64) PRIMARY KEY, place BIGINT NOT NULL, code VARCHAR(64) NOT NULL, answers {text} NOT NULL, reason VARCHAR(800) NOT NULL){end};
CREATE TABLE invitations (team VARCHAR(64) PRIMARY KEY, digest VARCHAR(64) NOT NULL, created BIGINT NOT NULL){end};
CREATE UNIQUE INDEX invitations_digest ON invitations (digest);
CREATE TABLE codes (digest VARCHAR(64) PRIMARY KEY, contest VARCHAR(64) NOT NULL, places BIGINT NOT NULL, used BIGINT NOT NULL, note VARCHAR(190) NOT NULL, created BIGINT NOT NULL){end};
CREATE TABLE entrants (contest VARCHAR(64) NOT NULL, folded VARCHAR(190) NOT NULL, PRIMARY KEY (contest, folded)){end};
CREATE TABLE seekers (contest VARCHAR(64) NOT NULL, account VARCHAR(64) NOT NULL, level BIGINT NOT NULL, body VARCHAR(800) NOT NULL, created BIGINT NOT NULL, PRIMARY KEY (contest, account)){end};
CREATE TABLE seats (contest VARCHAR(64) NOT NULL, team VARCHAR(64) NOT NULL, room VARCHAR(64) NOT NULL, seat VARCHAR(64) NOT NULL, port VARCHAR(64) NOT NULL, PRIMARY KEY (contest, team)){end};
CREATE TABLE identities (issuer VARCHAR(190) NOT NULL, subject VARCHAR(190) NOT NULL, account VARCHAR(64) NOT NULL, created BIGINT NOT NULL, PRIMARY KEY (issuer, subject)){end};
CREATE TABLE passwords (login VARCHAR(190) PRIMARY KEY, account VARCHAR(64) NOT NULL, hash VARCHAR(400) NOT NULL, totp VARCHAR(400) NOT NULL, used BIGINT NOT NULL, failed BIGINT NOT NULL, until BIGINT NOT NULL){end};
CREATE UNIQUE INDEX passwords_account ON passwords (account);
CREATE TABLE flows (digest VARCHAR(64) PRIMARY KEY, issuer VARCHAR(190) NOT NULL, body {text} NOT NULL, expires BIGINT NOT NULL){end};
CREATE TABLE contacts (account VARCHAR(64) PRIMARY KEY, mail VARCHAR(190) NOT NULL, lang VARCHAR(16) NOT NULL, created BIGINT NOT NULL){end};
CREATE TABLE subscriptions (id VARCHAR(64) PRIMARY KEY, account VARCHAR(64) NOT NULL, channel VARCHAR(16) NOT NULL, address VARCHAR(700) NOT NULL, body {text} NOT NULL, kinds VARCHAR(190) NOT NULL, created BIGINT NOT NULL){end};
CREATE INDEX subscriptions_account ON subscriptions (account);
DROP TABLE deliveries;
CREATE TABLE deliveries (message VARCHAR(190) NOT NULL, address VARCHAR(64) NOT NULL, account VARCHAR(64) NOT NULL, kind VARCHAR(16) NOT NULL, body {text} NOT NULL, state VARCHAR(16) NOT NULL, tries BIGINT NOT NULL, due BIGINT NOT NULL, created BIGINT NOT NULL, why VARCHAR(400) NOT NULL, PRIMARY KEY (message, address)){end};
CREATE INDEX deliveries_due ON deliveries (state, due);
CREATE TABLE notified (round VARCHAR(130) PRIMARY KEY, number BIGINT NOT NULL){end};
CREATE TABLE ghosts (id VARCHAR(64) PRIMARY KEY, round VARCHAR(130) NOT NULL, name VARCHAR(190) NOT NULL, source VARCHAR(190) NOT NULL, body {text} NOT NULL, created BIGINT NOT NULL){end};
`
