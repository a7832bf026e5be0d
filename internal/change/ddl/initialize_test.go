package ddl

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

const loadSchema = "DROP TABLE IF EXISTS `isu_condition`;\r\n" + `DROP TABLE IF EXISTS ` + "`isu`" + `;

-- what an isu is; KEY (not this one)
CREATE TABLE ` + "`isu`" + ` (
  ` + "`id`" + ` bigint AUTO_INCREMENT,
  ` + "`uuid`" + ` char(36) NOT NULL UNIQUE, # once
  ` + "`name`" + ` varchar(255) NOT NULL,
  PRIMARY KEY (` + "`id`" + `)
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;

CREATE TABLE isu_condition (
  id bigint AUTO_INCREMENT,
  uuid char(36) NOT NULL,
  ` + "`timestamp`" + ` datetime NOT NULL, -- DESC, please; )
  message varchar(255) NOT NULL DEFAULT 'it''s (a "trap"); -- KEY',
  PRIMARY KEY (id),
  KEY wrong (uuid, message(10)) /* the last */
) ENGINE=InnoDB DEFAULT CHARACTER SET=utf8mb4;
`

const loadData = `INSERT INTO isu (uuid, name) SELECT uuid(), concat('isu ', seq) FROM seq_1_to_50;
INSERT INTO isu_condition (uuid, timestamp) SELECT isu.uuid, '2024-01-01' + INTERVAL seq MINUTE FROM isu, seq_1_to_20;
`

// A loadedSite is a site whose initialize is a script that loads a schema and
// data with the server's command line client.
type loadedSite struct {
	*testSite
	sql string // the folder of the SQL files
}

func newLoadedSite(t *testing.T) *loadedSite {
	t.Helper()
	s := &loadedSite{testSite: newTestSite(t)}
	s.sql = filepath.Join(s.dir, "sql")
	if changetest.ChildDir() != "" {
		return s
	}
	if err := os.Mkdir(s.sql, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"0_Schema.sql": loadSchema, "1_Data.sql": loadData, ".old.sql": loadSchema, "init.sh": "CREATE TABLE isu_condition (id int);"} {
		s.write(t, name, text)
	}
	s.initialize(t)
	return s
}

func (s *loadedSite) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.sql, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *loadedSite) read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(s.sql, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// initialize creates everything again, as a benchmark does first.
func (s *loadedSite) initialize(t *testing.T) {
	t.Helper()
	dsn, err := os.ReadFile(filepath.Join(s.dir, "dsn"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := mysql.ParseDSN(string(dsn))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c",
		`cat 0_Schema.sql 1_Data.sql | mariadb --no-defaults --default-character-set=utf8mb4 --socket="$1" --user=root "$2"`, "sh", c.Addr, c.DBName)
	cmd.Dir = s.sql
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("initialize: %v\n%s", err, out)
	}
}

func (s *loadedSite) open(dir string) *change.Site {
	site := s.testSite.open(dir)
	site.Roots = []string{filepath.Join(dir, "sql")}
	site.Services["app"] = change.Service{Loads: []string{filepath.Join(dir, "sql")}}
	return site
}

// state returns the definitions of the tables and every SQL file.
func (s *loadedSite) state() (string, error) {
	var b strings.Builder
	for _, table := range []string{"isu", "isu_condition"} {
		var name, text string
		if err := s.db.QueryRow("SHOW CREATE TABLE "+table).Scan(&name, &text); err != nil {
			return "", err
		}
		b.WriteString(text + "\n")
	}
	files, err := changetest.Tree(s.sql)
	return b.String() + files, err
}

// TestConformanceIntoFile: each act on an index of both the table and the schema
// file keeps the promises of every kind.
func TestConformanceIntoFile(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	changetest.Run(t, changetest.Case{
		Dir: s.dir, Open: s.open, State: s.state,
		Remedies: map[string]iikanji.Remedy{
			"add":     change.IntoSchemaFile(remedy("add index", "isu_condition", "columns", "uuid, timestamp DESC")),
			"replace": change.IntoSchemaFile(remedy("add index", "isu_condition", "columns", "uuid, timestamp DESC", "drop", "wrong")),
			"drop":    change.IntoSchemaFile(remedy("drop index", "isu_condition", "name", "wrong")),
			"column":  change.IntoSchemaFile(remedy("add column", "isu_condition", "name", "at", "type", "tinyint", "as", "hour(timestamp)", "columns", "at, uuid")),
		},
		Serves:  func() error { return s.db.Ping() },
		Disturb: s.disturb,
	})
}

// acts are the executor's acts, on the test's own history.
type acts struct {
	*testing.T
	site *change.Site
	h    *history.History
	x    *change.Executor
}

func newActs(t *testing.T, site *change.Site) acts {
	t.Helper()
	h, err := history.Open(filepath.Join(t.TempDir(), "history"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return acts{t, site, h, &change.Executor{Hands: site, Journal: h}}
}

func (a acts) apply(r iikanji.Remedy) *iikanji.Change {
	a.Helper()
	c, err := change.Plan(a.Context(), a.site, r)
	if err != nil {
		a.Fatal(err)
	}
	if err := a.h.AddChange(c, change.Diff(c)); err != nil {
		a.Fatal(err)
	}
	if err := a.x.Apply(a.Context(), c.ID); err != nil {
		a.Fatal(err)
	}
	return c
}

func (a acts) revert(c *iikanji.Change) {
	a.Helper()
	if err := a.x.Revert(a.Context(), c.ID, "test"); err != nil {
		a.Fatal(err)
	}
}

func (a acts) wiped(c *iikanji.Change) bool {
	a.Helper()
	is, err := change.Wiped(a.Context(), a.site, c)
	if err != nil {
		a.Fatal(err)
	}
	return is
}

// TestSurvivesInitialize: a plain index is reported as wiped. After it is moved
// into the schema file, it survives three initializes, and a revert restores
// table and file to the byte, before and after another initialize.
func TestSurvivesInitialize(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	a := newActs(t, s.open(s.dir))
	untouched, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	same := func(when string) {
		t.Helper()
		if now, err := s.state(); err != nil || now != untouched {
			t.Errorf("%s: %v\n%s\nwant\n%s", when, err, now, untouched)
		}
	}
	r := remedy("add index", "isu_condition", "columns", "uuid, timestamp DESC")
	plain := a.apply(r)
	if plain.Risk != iikanji.RiskNone || a.wiped(plain) {
		t.Errorf("risk %s, wiped %v before any initialize", plain.Risk, a.wiped(plain))
	}
	s.initialize(t)
	if !a.wiped(plain) {
		t.Fatal("initialize is not seen to have wiped the index out")
	}
	a.revert(plain)
	same("after reverting what was wiped out")

	moved := a.apply(change.IntoSchemaFile(r))
	if a.wiped(moved) {
		t.Error("wiped before any initialize")
	}
	if want := "  KEY wrong (uuid, message(10)), /* the last */\n  KEY `iikanji_uuid_timestamp` (`uuid`,`timestamp` DESC)\n) ENGINE"; !strings.Contains(s.read(t, "0_Schema.sql"), want) {
		t.Errorf("want %q in\n%s", want, s.read(t, "0_Schema.sql"))
	}
	applied, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		s.initialize(t)
		if now, err := s.state(); err != nil || now != applied || a.wiped(moved) {
			t.Fatalf("initialize %d: %v, wiped %v\n%s\nwant\n%s", n+1, err, a.wiped(moved), now, applied)
		}
	}
	a.revert(moved)
	same("reverted")
	s.initialize(t)
	same("reverted, and initialized")
	if _, err := s.db.Exec("ALTER TABLE isu_condition ADD COLUMN by_hand int"); err != nil {
		t.Fatal(err)
	}
	if _, err := change.Wiped(t.Context(), a.site, moved); err == nil || !strings.Contains(err.Error(), "neither") {
		t.Errorf("a table that was changed by hand: %v", err)
	}
}

// TestChain: changes of one table, and of another one in the same file, are
// applied in sequence and reverted together, with initialize in between and
// after a crash.
func TestChain(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	a := newActs(t, s.open(s.dir))
	untouched, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	// Plain indexes of one table that initialize wipes out together.
	a.apply(remedy("add index", "isu_condition", "columns", "uuid, timestamp DESC"))
	a.apply(remedy("add index", "isu_condition", "columns", "timestamp"))
	s.initialize(t)
	if done, err := a.x.RevertAll(t.Context(), "test"); err != nil || len(done) != 2 {
		t.Fatalf("reverted %v of two that initialize wiped out: %v", done, err)
	}
	if now, err := s.state(); err != nil || now != untouched {
		t.Fatalf("after initialize and the reverts: %v\n%s\nwant\n%s", err, now, untouched)
	}

	all := []*iikanji.Change{
		a.apply(change.IntoSchemaFile(remedy("add index", "isu_condition", "columns", "uuid, timestamp"))),
		a.apply(change.IntoSchemaFile(remedy("add index", "isu", "columns", "name"))),
		a.apply(change.IntoSchemaFile(remedy("drop index", "isu_condition", "name", "wrong"))),
		a.apply(change.IntoSchemaFile(remedy("add index", "isu_condition", "columns", "uuid, timestamp DESC, id", "drop", "iikanji_uuid_timestamp"))),
	}
	s.initialize(t)
	for _, c := range all {
		if err := a.x.Keep(c.ID, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if a.wiped(all[3]) || strings.Contains(s.read(t, "0_Schema.sql"), "wrong") {
		t.Errorf("wiped %v, file\n%s", a.wiped(all[3]), s.read(t, "0_Schema.sql"))
	}

	// iikanji is killed after half of the last change was undone, and initialize
	// runs before the recovery.
	if err := a.h.MoveChange(all[3].ID, iikanji.Reverting, "test"); err != nil {
		t.Fatal(err)
	}
	if err := a.site.Perform(t.Context(), all[3].Undo[0]); err != nil {
		t.Fatal(err)
	}
	s.initialize(t)
	if done, err := a.x.Recover(t.Context()); err != nil || len(done) != 1 {
		t.Fatalf("recovered %v, %v", done, err)
	}
	if done, err := a.x.RevertAll(t.Context(), "test"); err != nil || len(done) != 3 {
		t.Fatalf("reverted %v, %v", done, err)
	}
	if now, err := s.state(); err != nil || now != untouched {
		t.Errorf("%v\n%s\nwant\n%s", err, now, untouched)
	}
}

// TestContestFile: the schema file of a contest gets the index that its table
// lacks.
func TestContestFile(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	b, err := os.ReadFile("../../../arenas/isucondition/files/sql/0_Schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	s.write(t, "0_Schema.sql", text)
	s.write(t, "1_Data.sql", "INSERT INTO isu_association_config (name, url) VALUES ('jia', 'http://127.0.0.1')")
	s.initialize(t)
	a := newActs(t, s.open(s.dir))
	c := a.apply(change.IntoSchemaFile(remedy("add index", "isu_condition", "columns", "jia_isu_uuid, timestamp DESC")))
	want := strings.Replace(text, "  `created_at` datetime(6) DEFAULT current_timestamp(6),\n  PRIMARY KEY (`id`)\n",
		"  `created_at` datetime(6) DEFAULT current_timestamp(6),\n  PRIMARY KEY (`id`),\n  KEY `iikanji_jia_isu_uuid_timestamp` (`jia_isu_uuid`,`timestamp` DESC)\n", 1)
	if now := s.read(t, "0_Schema.sql"); now != want || want == text {
		t.Errorf("the file becomes\n%s", now)
	}
	s.initialize(t)
	if a.wiped(c) {
		t.Error("initialize wiped it out")
	}
	a.revert(c)
	if s.read(t, "0_Schema.sql") != text {
		t.Error("the file is not as it was")
	}
}

// TestInitializeKilled: an initialize that was killed leaves no table. The
// change can still be reverted, and the next initialize creates the table in its
// old state. Nothing is applied to a missing table.
func TestInitializeKilled(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	a := newActs(t, s.open(s.dir))
	untouched, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	c := a.apply(change.IntoSchemaFile(remedy("add index", "isu_condition", "columns", "uuid, timestamp")))
	if _, err := s.db.Exec("DROP TABLE isu_condition"); err != nil {
		t.Fatal(err)
	}
	a.revert(c)
	if s.read(t, "0_Schema.sql") != loadSchema {
		t.Errorf("the schema file is\n%s", s.read(t, "0_Schema.sql"))
	}
	var moved *change.MovedError
	if err := a.x.Apply(t.Context(), c.ID); !errors.As(err, &moved) {
		t.Errorf("applied without a table: %v", err)
	}
	s.initialize(t)
	if now, err := s.state(); err != nil || now != untouched {
		t.Errorf("%v\n%s\nwant\n%s", err, now, untouched)
	}
}

// TestCancelled: a plan that is cancelled during the trial leaves nothing
// behind.
func TestCancelled(t *testing.T) {
	s := newTestSite(t)
	conn, err := s.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trial, err := openScratch(t.Context(), s.db, conn, "site", "cond")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waiting, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer stop()
	if _, err := change.Plan(waiting, s.open(s.dir), remedy("add index", "cond", "columns", "id, jia")); err == nil {
		t.Error("two plans had the scratch database at once")
	}
	cancel()
	if err := trial.copyOf(t.Context(), definitionOf(t, s)); err != nil {
		t.Errorf("the plan that had to wait took the scratch database away: %v", err)
	}
	if err := conn.Raw(func(c any) error { return c.(driver.Conn).Close() }); err != nil { // as the driver does on a cancel
		t.Fatal(err)
	}
	if err := trial.close(ctx); err != nil {
		t.Error(err)
	}
	var left int
	if err := s.db.QueryRow("SELECT count(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = ?", scratchSchema).Scan(&left); err != nil || left != 0 {
		t.Errorf("%d scratch databases are left, %v", left, err)
	}
}

func definitionOf(t *testing.T, s *testSite) string {
	t.Helper()
	text, err := s.open("").Content(t.Context(), iikanji.Op{Verb: iikanji.SQL, Place: "database/site.cond"})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestNotOnline: a table that the server can only copy is locked, and the plan
// has RiskLock; a table for which the server refuses only later is copied too.
func TestNotOnline(t *testing.T) {
	s := newTestSite(t)
	site := s.open(s.dir)
	if _, err := s.db.Exec("CREATE TABLE old (a int, b int) ENGINE=MyISAM"); err != nil {
		t.Fatal(err)
	}
	c, err := change.Plan(t.Context(), site, remedy("add index", "old", "columns", "a"))
	if err != nil || c.Risk != iikanji.RiskLock || strings.Contains(c.Do[0].Body, "LOCK") {
		t.Fatalf("%+v %v", c, err)
	}
	c.Do[0].Body += ", " + strings.Join(change.Online, ", ")
	if err := site.Perform(t.Context(), c.Do[0]); err != nil {
		t.Fatal(err)
	}
	if now, err := site.State(t.Context(), c.Undo[0]); err != nil || now != c.Undo[0].Expect {
		t.Errorf("not as planned (%v)", err)
	}
}

// TestWhichFile: of several files that create the table, the one with its
// present definition is taken, or the one whose statement was executed; other
// cases are refused.
func TestWhichFile(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	site := s.open(s.dir)
	r := change.IntoSchemaFile(remedy("add index", "isu_condition", "columns", "uuid, timestamp"))
	plan := func(r iikanji.Remedy, want string) {
		t.Helper()
		c, err := change.Plan(t.Context(), site, r)
		switch {
		case strings.HasSuffix(want, ".sql"):
			if err != nil || filepath.Base(c.Do[0].Place) != want {
				t.Errorf("%+v, %v; want an edit of %s", c, err, want)
			}
		case err == nil || !strings.Contains(err.Error(), want):
			t.Errorf("%v; want %q", err, want)
		}
	}
	s.write(t, "a_old.sql", strings.Replace(loadSchema, "KEY wrong", "KEY old", 1))
	plan(r, "0_Schema.sql")
	s.write(t, "b_copy.sql", "-- a copy\n"+strings.ReplaceAll(loadSchema, "message(10)", "message( 10 )"))
	plan(r, "is not known")
	at := strings.Index(loadSchema, "CREATE TABLE isu_condition")
	executed := []string{"SET NAMES utf8mb4", strings.Join(strings.Fields(strings.Split(strings.Split(loadSchema[at:], ";\n")[0], "-- DESC")[0]), " ")}
	if _, err := byExecuted(t.Context(), site, r, executed); err == nil || !strings.Contains(err.Error(), "none of") {
		t.Errorf("%v", err)
	}
	executed = append(executed, loadSchema[at:])
	if _, err := byExecuted(t.Context(), site, r, executed); err == nil || !strings.Contains(err.Error(), "none of") && !strings.Contains(err.Error(), "alike") {
		t.Errorf("the same tokens in two files: %v", err)
	}
	s.write(t, "b_copy.sql", strings.Replace(loadSchema, "KEY wrong", "INDEX wrong", 1))
	plan(r, "is not known")
	_, refused := change.Plan(t.Context(), site, r)
	var which *change.WhichFileError
	if !errors.As(refused, &which) || len(which.Files) != 2 || which.Table != "isu_condition" {
		t.Fatalf("refused: %v", refused)
	}
	chosen, err := which.Choose(t.Context(), executed)
	if err != nil {
		t.Fatal(err)
	}
	plan(chosen, "0_Schema.sql")
	chosen.Args["file"] = "/etc/passwd"
	plan(chosen, "not among")

	for _, name := range []string{"a_old.sql", "b_copy.sql"} {
		if err := os.Remove(filepath.Join(s.sql, name)); err != nil {
			t.Fatal(err)
		}
	}
	s.write(t, "0_Schema.sql", strings.Replace(loadSchema, "the last", "\xff", 1))
	plan(r, "not UTF-8")
	s.write(t, "0_Schema.sql", loadSchema+"-- "+string(bytes.Repeat([]byte("x"), maxFile)))
	plan(r, "larger than")
	s.write(t, "0_Schema.sql", "-- "+string(bytes.Repeat([]byte("x"), maxFile)))
	plan(r, "were read")
	s.write(t, "0_Schema.sql", "SELECT 1")
	plan(r, "creates table isu_condition")
	s.write(t, "0_Schema.sql", strings.Replace(loadSchema, "KEY wrong", "KEY other", 1))
	plan(r, "KEY `other`")
	s.write(t, "0_Schema.sql", loadSchema)
	site.Roots = nil
	plan(r, "outside the folders")
}

// TestAlreadyThere: an index that the table has and the file lacks gives an
// error.
func TestAlreadyThere(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	a := newActs(t, s.open(s.dir))
	r := remedy("add index", "isu_condition", "columns", "uuid, timestamp")
	a.apply(r)
	if _, err := change.Plan(t.Context(), a.site, change.IntoSchemaFile(r)); err == nil || errors.Is(err, change.ErrNothing) || !strings.Contains(err.Error(), "revert the change") {
		t.Errorf("%v", err)
	}
}

// TestContestDropsDatabase: the schema file of a contest drops the whole database
// and names it in each statement. Its tables get their indexes in the file, which
// survive initialize and are taken back to the byte; one beside the file is seen to
// be wiped out.
func TestContestDropsDatabase(t *testing.T) {
	tier.Slow(t)
	s := newLoadedSite(t)
	b, err := os.ReadFile("../../../arenas/isuumo/files/mysql/db/0_Schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	var schema string
	if err := s.db.QueryRow("SELECT DATABASE()").Scan(&schema); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(b), "isuumo", schema)
	if strings.Count(text, "DATABASE") != 2 || strings.Count(text, schema+".") != 2 {
		t.Fatalf("the contest's schema file does not drop its database: %s", text)
	}
	s.write(t, "0_Schema.sql", text)
	s.write(t, "1_Data.sql", "INSERT INTO "+schema+".chair SELECT seq, 'n', 'd', 't', seq, 1, 2, 3, 'c', 'f', 'k', seq % 7, 1 FROM "+schema+".seq_1_to_50;")
	s.initialize(t)
	a := newActs(t, s.open(s.dir))
	r := remedy("add index", "chair", "columns", "popularity DESC, id")
	plain := a.apply(r)
	s.initialize(t)
	if !a.wiped(plain) {
		t.Fatal("initialize is not seen to have wiped the index out")
	}
	a.revert(plain)

	all := []*iikanji.Change{
		a.apply(change.IntoSchemaFile(r)),
		a.apply(change.IntoSchemaFile(remedy("add index", "estate", "columns", "rent, id"))),
	}
	for _, want := range []string{"KEY `iikanji_popularity_id` (`popularity` DESC,`id`)", "KEY `iikanji_rent_id` (`rent`,`id`)"} {
		if now := s.read(t, "0_Schema.sql"); strings.Count(now, want) != 1 {
			t.Errorf("want %q once in\n%s", want, now)
		}
	}
	for range 2 {
		s.initialize(t)
	}
	for _, c := range all {
		if a.wiped(c) {
			t.Errorf("initialize wiped %s out", c.Says)
		}
	}
	a.revert(all[1])
	a.revert(all[0])
	if now := s.read(t, "0_Schema.sql"); now != text {
		t.Errorf("the file is not as it was:\n%s", now)
	}
}
