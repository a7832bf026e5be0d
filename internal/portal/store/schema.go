package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// migrations are the steps of the schema, forward only. A step that was released is never
// changed. {text} is a long text; {end} ends a table.
var migrations = []string{schema1, schemaPeople, schemaHosts, schemaBeside, schemaFleet, schemaClaims}

const schema1 = `
CREATE TABLE contests (id VARCHAR(64) PRIMARY KEY, file {text} NOT NULL, digest VARCHAR(64) NOT NULL, created BIGINT NOT NULL){end};
CREATE TABLE rounds (id VARCHAR(130) PRIMARY KEY, contest VARCHAR(64) NOT NULL, state VARCHAR(16) NOT NULL, version BIGINT NOT NULL, last_event BIGINT NOT NULL, relayed BIGINT NOT NULL, published BIGINT NOT NULL){end};
CREATE TABLE acts (round VARCHAR(130) NOT NULL, number BIGINT NOT NULL, body {text} NOT NULL, PRIMARY KEY (round, number)){end};
CREATE TABLE windows (round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, began BIGINT NOT NULL, PRIMARY KEY (round, team)){end};
CREATE TABLE teams (id VARCHAR(64) PRIMARY KEY, contest VARCHAR(64) NOT NULL, name VARCHAR(190) NOT NULL, folded VARCHAR(190) NOT NULL, division VARCHAR(64) NOT NULL, gone VARCHAR(16) NOT NULL, gone_at BIGINT NOT NULL, created BIGINT NOT NULL){end};
CREATE UNIQUE INDEX teams_name ON teams (contest, folded);
CREATE TABLE accounts (id VARCHAR(64) PRIMARY KEY, name VARCHAR(190) NOT NULL, role VARCHAR(16) NOT NULL, team VARCHAR(64) NOT NULL, created BIGINT NOT NULL){end};
CREATE TABLE tokens (digest VARCHAR(64) PRIMARY KEY, scope VARCHAR(16) NOT NULL, account VARCHAR(64) NOT NULL, team VARCHAR(64) NOT NULL, expires BIGINT NOT NULL, single BIGINT NOT NULL){end};
CREATE TABLE sessions (digest VARCHAR(64) PRIMARY KEY, account VARCHAR(64) NOT NULL, form VARCHAR(64) NOT NULL, created BIGINT NOT NULL, expires BIGINT NOT NULL){end};
CREATE TABLE hosts (id VARCHAR(64) PRIMARY KEY, team VARCHAR(64) NOT NULL, name VARCHAR(190) NOT NULL, url VARCHAR(190) NOT NULL, proven BIGINT NOT NULL){end};
CREATE TABLE jobs (id VARCHAR(64) PRIMARY KEY, round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, number BIGINT NOT NULL, lane VARCHAR(16) NOT NULL, state VARCHAR(16) NOT NULL,
 attempt BIGINT NOT NULL, epoch BIGINT NOT NULL, lost BIGINT NOT NULL, voids BIGINT NOT NULL, place BIGINT NOT NULL, again BIGINT NOT NULL, stopping BIGINT NOT NULL, charged BIGINT NOT NULL,
 enqueued BIGINT NOT NULL, offered BIGINT NOT NULL, sent BIGINT NOT NULL, claimed BIGINT NOT NULL, started BIGINT NOT NULL, ended BIGINT NOT NULL,
 worker VARCHAR(64) NOT NULL, handle VARCHAR(64) NOT NULL, host VARCHAR(64) NOT NULL, note VARCHAR(800) NOT NULL, revision VARCHAR(190) NOT NULL, account VARCHAR(64) NOT NULL, says VARCHAR(400) NOT NULL){end};
CREATE INDEX jobs_state ON jobs (state);
CREATE INDEX jobs_team ON jobs (round, team);
CREATE TABLE open_jobs (round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, job VARCHAR(64) NOT NULL, PRIMARY KEY (round, team)){end};
CREATE TABLE attempts (job VARCHAR(64) NOT NULL, epoch BIGINT NOT NULL, worker VARCHAR(64) NOT NULL, began BIGINT NOT NULL, ended BIGINT NOT NULL, how VARCHAR(16) NOT NULL, PRIMARY KEY (job, epoch)){end};
CREATE TABLE results (job VARCHAR(64) PRIMARY KEY, round VARCHAR(130) NOT NULL, team VARCHAR(64) NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, outcome VARCHAR(16) NOT NULL, score DOUBLE PRECISION NOT NULL, digest VARCHAR(64) NOT NULL, body {text} NOT NULL){end};
CREATE INDEX results_round ON results (round);
CREATE TABLE strays (job VARCHAR(64) NOT NULL, epoch BIGINT NOT NULL, digest VARCHAR(64) NOT NULL, at BIGINT NOT NULL, why VARCHAR(16) NOT NULL, body {text} NOT NULL, PRIMARY KEY (job, epoch, digest)){end};
CREATE TABLE judgements (id VARCHAR(64) PRIMARY KEY, round VARCHAR(130) NOT NULL, job VARCHAR(64) NOT NULL, at BIGINT NOT NULL, outcome VARCHAR(16) NOT NULL, score DOUBLE PRECISION NOT NULL, reason VARCHAR(800) NOT NULL, account VARCHAR(64) NOT NULL){end};
CREATE TABLE events (round VARCHAR(130) NOT NULL, number BIGINT NOT NULL, at BIGINT NOT NULL, kind VARCHAR(16) NOT NULL, team VARCHAR(64) NOT NULL, job VARCHAR(64) NOT NULL, body {text} NOT NULL, PRIMARY KEY (round, number)){end};
CREATE TABLE messages (id VARCHAR(64) PRIMARY KEY, round VARCHAR(130) NOT NULL, kind VARCHAR(16) NOT NULL, at BIGINT NOT NULL, account VARCHAR(64) NOT NULL, team VARCHAR(64) NOT NULL, reply VARCHAR(64) NOT NULL, open BIGINT NOT NULL, body {text} NOT NULL){end};
CREATE INDEX messages_round ON messages (round);
CREATE TABLE deliveries (message VARCHAR(64) NOT NULL, address VARCHAR(190) NOT NULL, state VARCHAR(16) NOT NULL, tries BIGINT NOT NULL, due BIGINT NOT NULL, PRIMARY KEY (message, address)){end};
CREATE TABLE workers (id VARCHAR(64) PRIMARY KEY, name VARCHAR(190) NOT NULL, pool VARCHAR(64) NOT NULL, kinds VARCHAR(190) NOT NULL, slots BIGINT NOT NULL, boot VARCHAR(64) NOT NULL, version VARCHAR(190) NOT NULL, seen BIGINT NOT NULL, failed VARCHAR(400) NOT NULL, quarantined BIGINT NOT NULL){end};
CREATE TABLE leader_term (id BIGINT PRIMARY KEY, term BIGINT NOT NULL){end};
INSERT INTO leader_term (id, term) VALUES (1, 0);
CREATE TABLE audit (number BIGINT PRIMARY KEY, at BIGINT NOT NULL, account VARCHAR(64) NOT NULL, what VARCHAR(64) NOT NULL, body {text} NOT NULL, chain VARCHAR(64) NOT NULL){end};
CREATE TABLE idempotency (account VARCHAR(64) NOT NULL, name VARCHAR(190) NOT NULL, job VARCHAR(64) NOT NULL, at BIGINT NOT NULL, PRIMARY KEY (account, name)){end};
`

// A NewerError is a schema of a newer program.
type NewerError struct{ Has, Knows int }

func (e *NewerError) Error() string {
	return fmt.Sprintf("the portal's database has schema %d, this iikanji knows %d: use the newer program", e.Has, e.Knows)
}

// migrate brings the schema to a version, each step in a transaction (MariaDB commits each
// statement of a step by itself). A SQLite file with an older schema is copied beside itself first.
func (s *Store) migrate(ctx context.Context, version int) error {
	has, err := s.version(ctx)
	if err != nil {
		return err
	}
	if has > version {
		return &NewerError{has, version}
	}
	if has > 0 && has < version {
		if err := s.keepOld(ctx, has); err != nil {
			return err
		}
	}
	for i := has; i < version; i++ {
		if err := s.step(ctx, i); err != nil {
			return fmt.Errorf("bringing the schema to version %d: %w", i+1, err)
		}
	}
	return nil
}

// version is that of the database's schema; 0 for a new one.
func (s *Store) version(ctx context.Context) (has int, err error) {
	if _, err := s.db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS portal_schema (id BIGINT PRIMARY KEY, version BIGINT NOT NULL)"); err != nil {
		return 0, fmt.Errorf("reading the schema's version: %w", err)
	}
	err = s.db.QueryRowContext(ctx, "SELECT version FROM portal_schema WHERE id = 1").Scan(&has)
	if errors.Is(err, ErrNone) {
		_, err = s.db.ExecContext(ctx, "INSERT INTO portal_schema (id, version) VALUES (1, 0)")
	}
	if err != nil {
		return 0, fmt.Errorf("reading the schema's version: %w", err)
	}
	return has, nil
}

// keepOld copies a SQLite database before its schema changes: steps go forward only. A copy that
// is there is of an attempt that did not end.
func (s *Store) keepOld(ctx context.Context, has int) error {
	if s.dialect != sqlite {
		return nil
	}
	old := fmt.Sprintf("%s.schema-%d", s.path, has)
	if _, err := os.Stat(old); err == nil {
		return nil
	}
	if err := os.Remove(old + ".part"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("copying the database before its schema changes: %w", err)
	}
	if _, err := s.db.ExecContext(ctx, "VACUUM INTO ?", old+".part"); err != nil {
		return fmt.Errorf("copying the database before its schema changes: %w", err)
	}
	if err := errors.Join(os.Chmod(old+".part", 0o600), os.Rename(old+".part", old)); err != nil {
		return fmt.Errorf("copying the database before its schema changes: %w", err)
	}
	return nil
}

func (s *Store) step(ctx context.Context, i int) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	long, end := "TEXT", ""
	if s.dialect == mariadb {
		long, end = "LONGTEXT", " ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"
	}
	text := strings.NewReplacer("{text}", long, "{end}", end).Replace(migrations[i])
	for statement := range strings.SplitSeq(text, ";\n") {
		if statement = strings.TrimSpace(statement); statement == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", verb(statement), err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("UPDATE portal_schema SET version = %d WHERE id = 1", i+1)); err != nil {
		return err
	}
	return tx.Commit()
}
