package ddl

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestScratchOfOthers: another database with the scratch database's name is not
// touched; the scratch database of a killed plan is dropped.
func TestScratchOfOthers(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	plan := func() error {
		_, err := change.Plan(t.Context(), s.open(s.dir), remedy("add index", "cond", "columns", "id, jia"))
		return err
	}
	run := func(stmts ...string) {
		t.Helper()
		for _, stmt := range stmts {
			if _, err := s.db.ExecContext(t.Context(), stmt); err != nil {
				t.Fatalf("%s: %v", stmt, err)
			}
		}
	}
	run("CREATE DATABASE iikanji_trial", "CREATE TABLE iikanji_trial.mine (a int)", "INSERT INTO iikanji_trial.mine VALUES (7)")
	if err := plan(); !errors.Is(err, errNotOurs) || strings.Count(err.Error(), "has not made") != 1 {
		t.Errorf("with another's database: %v", err)
	}
	var a int
	if err := s.db.QueryRowContext(t.Context(), "SELECT a FROM iikanji_trial.mine").Scan(&a); err != nil || a != 7 {
		t.Errorf("another's row is %d, %v", a, err)
	}
	run("DROP TABLE iikanji_trial.mine")
	if err := plan(); err != nil { // killed before marking it
		t.Errorf("with an empty one: %v", err)
	}
	run("CREATE DATABASE iikanji_trial", "CREATE TABLE iikanji_trial."+madeByUs+" (a int)", "CREATE TABLE iikanji_trial.cond (a int)")
	if err := plan(); err != nil {
		t.Errorf("with what a killed plan left: %v", err)
	}
	var left int
	if err := s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", scratchSchema).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d scratch databases are left, %v", left, err)
	}
}

// TestScratchUnlogged: the change is in the binary log for replicas, its trial
// is not.
func TestScratchUnlogged(t *testing.T) {
	tier.Slow(t)
	server, err := factstest.Start(t.Context(), "", "--log-bin=binlog", "--server-id=1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	db, err := server.Open(t.Context(), "site")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	if _, err := db.ExecContext(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	site := &change.Site{Services: map[string]change.Service{"database": {Running: changetest.Running{Pool: db}}}}
	c, err := change.Plan(t.Context(), site, remedy("add index", "cond", "columns", "jia, id"))
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Perform(t.Context(), c.Do[0]); err != nil {
		t.Fatal(err)
	}
	log := binlog(t, db)
	if strings.Contains(log, scratchSchema) || !strings.Contains(log, "iikanji_jia_id") {
		t.Errorf("the binary log has\n%s", log)
	}
}

// binlog returns the statements in the binary log.
func binlog(t *testing.T, db *sql.DB) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SHOW BINLOG EVENTS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var log strings.Builder
	for rows.Next() {
		var file, kind, info string
		var pos, server, end int64
		if err := rows.Scan(&file, &pos, &kind, &server, &end, &info); err != nil {
			t.Fatal(err)
		}
		log.WriteString(info + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return log.String()
}

// TestGivesWay: while a change waits for a table that a long transaction uses,
// other clients can read the table; after the transaction, the change is made.
func TestGivesWay(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	c, err := change.Plan(t.Context(), s.open(s.dir), remedy("add index", "cond", "columns", "jia, id"))
	if err != nil {
		t.Fatal(err)
	}
	long, err := s.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := long.QueryRow("SELECT count(*) FROM cond").Scan(&n); err != nil {
		t.Fatal(err)
	}
	made := make(chan error, 1)
	go func() { made <- s.open(s.dir).Perform(t.Context(), c.Do[0]) }()
	for waiting := 0; waiting == 0; {
		err := s.db.QueryRowContext(t.Context(), "SELECT count(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE 'Waiting for table metadata lock%'").Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-made:
			t.Fatalf("it did not wait: %v", err)
		case <-time.After(time.Millisecond):
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // without giving way it would wait for ever
	defer cancel()
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM cond").Scan(&n); err != nil {
		t.Errorf("the table cannot be read:  %v", err)
	}
	if err := long.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	if text, err := s.state(); err != nil || !strings.Contains(text, "KEY `iikanji_jia_id`") {
		t.Errorf("%v\n%s", err, text)
	}
	var wait, usual int // of the reused connection
	if err := s.db.QueryRowContext(t.Context(), "SELECT @@lock_wait_timeout, @@GLOBAL.lock_wait_timeout").Scan(&wait, &usual); err != nil || wait != usual {
		t.Errorf("a connection of the pool waits %d s, not %d: %v", wait, usual, err)
	}
	if _, err := s.open(s.dir).State(t.Context(), iikanji.Op{Verb: iikanji.SQL, Place: "database/site.isu"}); err != nil {
		t.Error(err)
	}
}
