package ddl

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// schema has the elements that make an undo difficult: several keys in an order,
// a counter, comments that look like DDL, foreign keys, a check.
const schema = "CREATE TABLE cond (id bigint AUTO_INCREMENT, jia varchar(36) NOT NULL, `timestamp` datetime(6) NOT NULL, `od``d` int COMMENT 'KEY `x` (`a`),\\n)', " +
	"created_at datetime(6) DEFAULT current_timestamp(6), place point NOT NULL, PRIMARY KEY (id), KEY wrong (jia, created_at) COMMENT 'AUTO_INCREMENT=7', " +
	"UNIQUE KEY u (`od``d`), KEY late (created_at DESC, id), KEY last (jia(10)), CONSTRAINT positive CHECK (char_length(jia) > 0)) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;" +
	"CREATE TABLE isu (id bigint PRIMARY KEY, cond_id bigint, name varchar(20), KEY cond_id (cond_id), KEY name (name), CONSTRAINT fk FOREIGN KEY (cond_id) REFERENCES cond (id));" +
	"INSERT INTO cond (jia, `timestamp`, `od``d`, place) SELECT uuid(), now(6), seq, point(seq, 1) FROM seq_1_to_500"

type testSite struct {
	dir string // holds "dsn", for the child
	db  *sql.DB
}

func newTestSite(t *testing.T) *testSite {
	t.Helper()
	s := &testSite{dir: changetest.ChildDir()}
	if s.dir == "" {
		s.dir = t.TempDir()
		server, err := factstest.Start(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(server.Stop)
		db, err := server.Open(t.Context(), "site")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
		c := mysql.NewConfig()
		c.User, c.Net, c.Addr, c.DBName = "root", "unix", server.Socket, "site"
		if err := os.WriteFile(filepath.Join(s.dir, "dsn"), []byte(c.FormatDSN()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dsn, err := os.ReadFile(filepath.Join(s.dir, "dsn"))
	if err != nil {
		t.Fatal(err)
	}
	if s.db, err = sql.Open("mysql", string(dsn)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.db.Close() })
	return s
}

func (s *testSite) open(string) *change.Site {
	return &change.Site{Services: map[string]change.Service{"database": {Running: changetest.Running{Pool: s.db}}}}
}

// state returns SHOW CREATE TABLE of every table.
func (s *testSite) state() (string, error) {
	var b strings.Builder
	for _, table := range []string{"cond", "isu"} {
		var name, text string
		if err := s.db.QueryRow("SHOW CREATE TABLE "+table).Scan(&name, &text); err != nil {
			return "", err
		}
		b.WriteString(text + "\n")
	}
	var n int
	err := s.db.QueryRow("SELECT count(*) FROM cond").Scan(&n)
	fmt.Fprintf(&b, "%d rows\n", n)
	return b.String(), err
}

// remedy returns a remedy that weakens nothing, unless an argument differs.
func remedy(act, table string, kv ...string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "ddl", Target: "database", Args: changetest.Args(append([]string{"act", act, "schema", "site", "table", table}, kv...)...),
		Proof: []iikanji.Proof{iikanji.RowsSorted}}
}

// TestConformance checks the promises of every kind for each act, with a real
// MariaDB.
func TestConformance(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	changetest.Run(t, changetest.Case{
		Dir: s.dir, Open: s.open, State: s.state,
		Remedies: map[string]iikanji.Remedy{
			"add":         remedy("add index", "cond", "columns", "jia, id"),
			"add spatial": remedy("add index", "cond", "columns", "place", "index", "spatial"),
			"replace":     remedy("add index", "cond", "columns", "jia, timestamp DESC", "drop", "wrong"),
			"drop":        remedy("drop index", "cond", "name", "late"), // the undo adds it between others
			"column":      remedy("add column", "cond", "name", "size", "type", "tinyint", "as", "CASE WHEN char_length(jia) < 10 THEN 0 ELSE 1 END", "columns", "size, id DESC"),
		},
		Effects: map[string]string{
			"column":      "`size` tinyint(4) GENERATED ALWAYS AS (case when char_length(`jia`) < 10 then 0 else 1 end) STORED INVISIBLE",
			"add":         "KEY `iikanji_jia_id` (`jia`,`id`)",
			"add spatial": "SPATIAL KEY `iikanji_place` (`place`)",
			"replace":     "KEY `iikanji_jia_timestamp` (`jia`,`timestamp` DESC)",
		},
		Serves:  func() error { return s.db.Ping() },
		Disturb: s.disturb,
	})
}

// disturb edits the place of an op by hand: it adds a column to the table.
func (s *testSite) disturb(op iikanji.Op) (calm func() error, err error) {
	if op.Verb != iikanji.SQL {
		return changetest.ByHand(op)
	}
	_, table, _ := strings.Cut(op.Place, ".")
	alter := func(clause string) error {
		_, err := s.db.Exec("ALTER TABLE " + table + " " + clause)
		return err
	}
	return func() error { return alter("DROP COLUMN by_hand") }, alter("ADD COLUMN by_hand int")
}

// TestThereAndBack: each act has its effect, and its undo restores SHOW CREATE
// TABLE exactly, while rows are inserted.
func TestThereAndBack(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	for _, c := range []struct {
		r    iikanji.Remedy
		want string // part of the definition with the change
		gone string // not part of it
	}{
		{remedy("add index", "cond", "columns", "jia,`timestamp` DESC"), "KEY `iikanji_jia_timestamp` (`jia`,`timestamp` DESC)", "\x00"},
		{remedy("add index", "cond", "columns", "jia(5)", "name", "mine"), "KEY `mine` (`jia`(5))", "\x00"},
		{remedy("add index", "cond", "columns", "place", "index", "spatial"), "SPATIAL KEY `iikanji_place` (`place`)", "\x00"},
		{remedy("add index", "cond", "columns", "jia, created_at, id", "drop", "wrong"), "KEY `iikanji_jia_created_at_id`", "`wrong`"},
		{remedy("add index", "cond", "columns", "jia, id", "drop", "not there"), "KEY `iikanji_jia_id`", "\x00"},
		{remedy("drop index", "cond", "name", "LATE"), "`last`", "`late`"},
		{remedy("drop index", "cond", "name", "last"), "`late`", "`last`"},
		{remedy("add index", "isu", "columns", "name, id"), "KEY `iikanji_name_id` (`name`,`id`)", "\x00"},
		{remedy("drop index", "isu", "name", "name"), "CONSTRAINT `fk`", "KEY `name`"},
		{remedy("add column", "cond", "name", "half", "type", "int unsigned", "as", "`od``d` / 2"), "`half` int(10) unsigned GENERATED ALWAYS AS (`od``d` / 2) STORED INVISIBLE", "KEY `half`"},
		{remedy("add column", "cond", "name", "spot", "type", "point", "default", "POINT(char_length(jia), 1)", "columns", "spot", "index", "spatial", "index name", "spot"), "SPATIAL KEY `spot` (`spot`)", "\x00"},
	} {
		site := s.open("")
		before, err := site.Content(t.Context(), iikanji.Op{Verb: iikanji.SQL, Place: "database/site." + c.r.Args["table"]})
		if err != nil {
			t.Fatal(err)
		}
		ch, err := change.Plan(t.Context(), site, c.r)
		if err != nil {
			t.Errorf("%v: %v", c.r.Args, err)
			continue
		}
		if _, err := s.db.Exec("INSERT INTO cond (jia, `timestamp`, place) VALUES ('x', now(), point(1, 1))"); err != nil {
			t.Fatal(err)
		}
		for _, side := range []struct {
			ops  []iikanji.Op
			next iikanji.Op // its Expect must hold afterwards
		}{{ch.Do, ch.Undo[0]}, {ch.Undo, ch.Do[0]}} {
			if err := site.Perform(t.Context(), side.ops[0]); err != nil {
				t.Fatalf("%s: %v", side.ops[0].Body, err)
			}
			now, err := site.Content(t.Context(), side.next)
			if err != nil {
				t.Fatal(err)
			}
			if change.FingerprintOf([]byte(now)) != side.next.Expect {
				t.Errorf("%s left what the trial did not:\n%s", side.ops[0].Body, now)
			}
			if &side.ops[0] == &ch.Do[0] && (!strings.Contains(now, c.want) || strings.Contains(now, c.gone)) {
				t.Errorf("%v: want %q and not %q in\n%s", c.r.Args, c.want, c.gone, now)
			}
			if &side.ops[0] == &ch.Undo[0] && now != before {
				t.Errorf("%v: undone is\n%s\nwant\n%s", c.r.Args, now, before)
			}
		}
	}
}

// TestRefused: a remedy that cannot be done or undone is refused before anything
// is changed. A remedy can come from any source.
func TestRefused(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	changetest.Refuse(t, s.open(""), s.state, []struct {
		Remedy iikanji.Remedy
		Why    string
	}{
		{remedy("truncate", "cond"), "truncate"},
		{remedy("add index", "no_such", "columns", "a"), "no_such"},
		{remedy("add index", "cond`; DROP TABLE isu; --", "columns", "id"), "plain names"},
		{remedy("add index", "cond", "columns", "nope"), "nope"},
		{remedy("add index", "cond", "columns", "id), DROP COLUMN (jia"), "no column"},
		{remedy("add index", "cond", "columns", ""), "argument columns is missing"},
		{remedy("add index", "cond", "columns", "id", "name", "late"), "late"},
		{remedy("add index", "cond", "columns", "id", "index", "rtree"), "rtree"},
		{remedy("add index", "cond", "columns", "jia", "index", "spatial"), "empty copy"},
		{remedy("add index", "cond", "columns", "od`d", "index", "spatial"), "no column"},
		{remedy("add index", "cond", "columns", "created_at", "index", "spatial"), "may be NULL"},
		{remedy("add index", "cond", "columns", "place", "index", "spatial", "srid", "0"), "SRID"},
		{remedy("add index", "cond", "columns", "jia", "index", "fulltext"), "fulltext"},
		{remedy("add index", "cond", "columns", "jia", "into", "/etc/passwd"), "into"},
		{remedy("add index", "cond", "columns", "jia", "into", "schema file"), "not known where"},
		{remedy("add index", "cond", "columns", "id", "weakens", "durability"), "weakens"},
		{remedy("add index", "cond", "columns", "id", "weakens", "nothing"), "unknown argument"}, // the asker declares no promise
		{remedy("add index", "cond", "columns", "jia, created_at"), change.ErrNothing.Error()},   // except for its comment
		{remedy("add column", "cond", "name", "jia", "type", "int", "as", "id"), "a column jia already"},
		{remedy("add column", "cond", "name", "x", "type", "int"), `either "as" or "default"`},
		{remedy("add column", "cond", "name", "x", "type", "int", "as", "id", "default", "id"), `either "as" or "default"`},
		{remedy("add column", "cond", "name", "x", "type", "int NOT NULL", "as", "id"), "without attributes"},
		{remedy("add column", "cond", "name", "x", "type", "int", "as", "id) STORED, DROP COLUMN (jia"), "one expression"},
		{remedy("add column", "cond", "name", "x", "type", "int", "as", "nope"), "empty copy"},
		{remedy("add column", "cond", "name", "x", "type", "int", "as", "id", "columns", "y"), "no column"},
		{remedy("add column", "cond`; DROP TABLE isu; --", "name", "x", "type", "int", "as", "id"), "plain names"},
		{remedy("drop index", "cond", "name", "not there"), change.ErrNothing.Error()},
		{remedy("drop index", "cond"), "argument name is missing"},
		{remedy("drop index", "cond", "name", "u"), "unique"},
		{remedy("drop index", "isu", "name", "cond_id"), "foreign key"},
		{iikanji.Remedy{Kind: "ddl", Target: "cache", Args: map[string]string{"act": "drop index", "schema": "site", "table": "cond"}}, "cache"},
	})
	r := remedy("add index", "cond", "columns", "id, jia")
	for _, c := range []struct {
		proof []iikanji.Proof
		want  int
	}{{nil, 1}, {[]iikanji.Proof{iikanji.SameForAll}, 1}, {[]iikanji.Proof{iikanji.RowsSorted}, 0}} { // without the proof, the promise counts as weakened
		r.Proof = c.proof
		ch, err := change.Plan(t.Context(), s.open(""), r)
		if err != nil || len(ch.Weakens) != c.want || c.want == 1 && ch.Weakens[0] != iikanji.RowOrder {
			t.Errorf("proof %v: %+v %v", c.proof, ch, err)
		}
	}
	for _, schema := range []string{"mysql", "MySQL", "information_schema", "performance_schema", "sys", "iikanji_trial"} {
		r := remedy("add index", "db", "columns", "Host")
		r.Args["schema"] = schema
		if _, err := change.Plan(t.Context(), s.open(""), r); err == nil || !strings.Contains(err.Error(), "the server's own") {
			t.Errorf("a table of %s: %v", schema, err)
		}
	}
}

func TestPlainNames(t *testing.T) {
	for name, want := range map[string]bool{"isu_condition": true, "表1$-x": true, "Ⅷ": true, strings.Repeat("é", 64): true,
		"": false, strings.Repeat("é", 65): false, "a.b": false, "a/b": false, "a b": false, "a`": false, "a\n": false, "a\xff": false} {
		var n plainName
		if err := n.UnmarshalText([]byte(name)); (err == nil) != want || want && string(n) != name {
			t.Errorf("%q: %v, %q", name, err, n)
		}
	}
}

// TestWaitsForAbandonedStatement: the server continues a statement after its client has
// gone. The state is read after the statement has ended; otherwise a recovery
// would conclude that nothing was done.
func TestWaitsForAbandonedStatement(t *testing.T) {
	tier.Slow(t)
	s := newTestSite(t)
	if _, err := s.db.Exec("INSERT INTO cond (jia, `timestamp`, place) SELECT uuid(), now(6), point(seq, 1) FROM seq_1_to_60000"); err != nil {
		t.Fatal(err)
	}
	op := iikanji.Op{Verb: iikanji.SQL, Place: "database/site.cond"}
	site := s.open("")
	before, err := site.State(t.Context(), op)
	if err != nil {
		t.Fatal(err)
	}
	abandoned := func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := s.db.ExecContext(ctx, "ALTER TABLE cond ADD KEY big (jia, id), ALGORITHM=COPY")
		return err != nil
	}
	for try := 1; !abandoned(); try++ { // a busy machine may be late to give up
		if try == 20 {
			t.Fatal("the statement ended within 50 ms: the test proves nothing")
		}
		if _, err := s.db.Exec("ALTER TABLE cond DROP KEY big"); err != nil {
			t.Fatal(err)
		}
	}
	now, err := site.State(t.Context(), op)
	if err != nil {
		t.Fatal(err)
	}
	for {
		var running int
		if err := s.db.QueryRow("SELECT count(*) FROM information_schema.processlist WHERE info LIKE 'ALTER%'").Scan(&running); err != nil {
			t.Fatal(err)
		}
		if running == 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	later, err := site.State(t.Context(), op)
	if err != nil || later != now {
		t.Errorf("the state moved after it was read (%v)", err)
	}
	if now == before {
		t.Log("the server ended the statement with its client")
	}
}
