package ddl

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/changetest"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/sqlitefile"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// fileSchema is the schema file of the test's site. It is no SQL of MySQL.
const fileSchema = `-- of a tenant
DROP TABLE IF EXISTS player;
CREATE TABLE IF NOT EXISTS "player" (id VARCHAR(255) NOT NULL PRIMARY KEY, tenant_id BIGINT NOT NULL);

CREATE TABLE score (
  id VARCHAR(255) NOT NULL PRIMARY KEY,
  tenant_id BIGINT NOT NULL, -- of the tenant
  player_id VARCHAR(255) NOT NULL,
  points BIGINT, row_num BIGINT NOT NULL
);
CREATE INDEX slow_one ON score (row_num);  -- kept
INSERT INTO player VALUES ('a;b', 1);
`

// A fileSite is a site whose app keeps a file per tenant: live files, originals and a
// schema file.
type fileSite struct{ dir string }

const tenants = 3

func newFileSite(t testing.TB) *fileSite {
	t.Helper()
	s := &fileSite{changetest.ChildDir()}
	if s.dir != "" {
		return s
	}
	s.dir = t.TempDir()
	for _, dir := range []string{"webapp/initial", "webapp/sql", "tenants"} {
		if err := os.MkdirAll(s.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(s.path("webapp/sql/10_schema.sql"), []byte(fileSchema), 0o644); err != nil {
		t.Fatal(err)
	}
	for i := range tenants {
		s.create(t, s.path("webapp/initial", fmt.Sprintf("%d.db", i+1)), 200*(i+1))
	}
	s.initialize(t)
	return s
}

func (s *fileSite) path(elem ...string) string {
	return filepath.Join(append([]string{s.dir}, elem...)...)
}

// create makes a new file from the schema file, as the app does.
func (s *fileSite) create(t testing.TB, path string, rows int) {
	t.Helper()
	text, err := os.ReadFile(s.path("webapp/sql/10_schema.sql"))
	if err != nil {
		t.Fatal(err)
	}
	s.exec(t, path, string(text), fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d)
		INSERT INTO score SELECT hex(i * 7), 1, 'p' || (i %% 50), i %% 10, i FROM n`, rows))
}

func (s *fileSite) exec(t testing.TB, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, stmt := range statements {
		if _, err := db.Exec(stmt); err != nil {
			t.Fatalf("%s: %v", stmt, err)
		}
	}
}

// initialize replaces the live files by copies of the originals.
func (s *fileSite) initialize(t testing.TB) {
	t.Helper()
	if err := os.RemoveAll(s.path("tenants")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(s.path("tenants"), os.DirFS(s.path("webapp/initial"))); err != nil {
		t.Fatal(err)
	}
}

func (s *fileSite) open(dir string) *change.Site {
	return &change.Site{Roots: []string{filepath.Join(dir, "webapp")}, Services: map[string]change.Service{"ledger": {
		Files: []string{filepath.Join(dir, "tenants")}, Originals: filepath.Join(dir, "webapp/initial"), Loads: []string{filepath.Join(dir, "webapp/sql")}}}}
}

// state is the bytes of the schema file and of the originals, with what lies beside
// them, and the definitions and the rows of the live files.
func (s *fileSite) state() (string, error) {
	out, err := changetest.Tree(s.path("webapp"))
	if err != nil {
		return "", err
	}
	live, err := filepath.Glob(s.path("tenants", "*.db"))
	if err != nil {
		return "", err
	}
	for _, path := range live {
		d, err := s.logical(path)
		if err != nil {
			return "", err
		}
		out += "== " + filepath.Base(path) + "\n" + d
	}
	return out, nil
}

func (s *fileSite) logical(path string) (string, error) {
	out := ""
	for _, name := range []string{"player", "score"} {
		d, err := sqlitefile.TableIn(context.Background(), path, name)
		if err != nil {
			return "", err
		}
		out += d
	}
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		return "", err
	}
	defer db.Close()
	var rows, total int64
	if err := db.QueryRow("SELECT count(*), sum(row_num * points) FROM score").Scan(&rows, &total); err != nil {
		return "", err
	}
	var ok string
	err = db.QueryRow("PRAGMA integrity_check").Scan(&ok)
	return out + fmt.Sprintf("%d rows, %d, %s\n", rows, total, ok), err
}

func fileRemedy(act string, kv ...string) iikanji.Remedy {
	return iikanji.Remedy{Kind: "ddl", Target: "ledger", Args: changetest.Args(append([]string{"act", act, "schema", "tenants", "table", "score"}, kv...)...),
		Proof: []iikanji.Proof{iikanji.RowsSorted}}
}

// TestFilesConformance checks the promises of every kind for SQLite files.
func TestFilesConformance(t *testing.T) {
	tier.Slow(t)
	s := newFileSite(t)
	changetest.Run(t, changetest.Case{
		Dir: s.dir, Open: s.open, State: s.state,
		// It adds an index and drops one: the statements of all acts.
		Remedies: map[string]iikanji.Remedy{"replace": fileRemedy("add index", "columns", "points DESC, player_id", "drop", "slow_one")},
		Effects:  map[string]string{"replace": `CREATE INDEX "iikanji_score_points_player_id" ON "score" ("points" DESC, "player_id");`},
		Secrets:  []string{"replace"}, // a row beside the changed lines
		Serves: func() error {
			_, err := s.logical(s.path("tenants/2.db"))
			return err
		},
		Disturb: s.disturb,
	})
}

// disturb edits the place of an op by hand: one live file gets an index, one original
// a byte.
func (s *fileSite) disturb(op iikanji.Op) (calm func() error, err error) {
	run := func(stmt string) error {
		db, err := sql.Open("sqlite", "file:"+s.path("tenants/2.db"))
		if err != nil {
			return err
		}
		defer db.Close()
		_, err = db.Exec(stmt)
		return err
	}
	switch op.Place {
	case change.FilesPlace("ledger", "score"):
		return func() error { return run("DROP INDEX by_hand") }, run("CREATE INDEX by_hand ON score (points, id)")
	case change.OriginalsPlace("ledger", "score"):
		path := s.path("webapp/initial/2.db")
		was, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return func() error { return os.WriteFile(path, was, 0o644) }, os.WriteFile(path, append(was[:len(was):len(was)], 0), 0o644)
	}
	return changetest.ByHand(op)
}

func (s *fileSite) executor(t testing.TB, name string) (*change.Executor, *history.History) {
	t.Helper()
	h, err := history.Open(s.path(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &change.Executor{Hands: s.open(s.dir), Journal: h}, h
}

func (s *fileSite) plan(t testing.TB, h *history.History, r iikanji.Remedy) *iikanji.Change {
	t.Helper()
	c, err := change.Plan(t.Context(), s.open(s.dir), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.AddChange(c, change.Diff(c)); err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *fileSite) indexed(t testing.TB, paths ...string) (with int) {
	t.Helper()
	for _, p := range paths {
		d, err := sqlitefile.TableIn(t.Context(), p, "score")
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(d, "index iikanji_") {
			with++
		}
	}
	return with
}

// TestFilesOutliveInitialize applies an index, initializes, adds tenants before and
// after, and reverts: no file keeps the index, and the originals have their bytes.
func TestFilesOutliveInitialize(t *testing.T) {
	tier.Slow(t)
	s := newFileSite(t)
	x, h := s.executor(t, "history")
	before, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(s.path("webapp/initial/3.db"))
	if err != nil {
		t.Fatal(err)
	}
	c := s.plan(t, h, fileRemedy("add index", "columns", "tenant_id, row_num"))
	if want := `add index ("tenant_id", "row_num") on score in 3 SQLite files, in 3 originals, and in 10_schema.sql`; c.Says != want || c.Risk != iikanji.RiskLock {
		t.Errorf("it says %q, risk %s", c.Says, c.Risk)
	}
	s.create(t, s.path("tenants/101.db"), 10) // between plan and apply, without the index
	if err := x.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	s.create(t, s.path("tenants/102.db"), 10) // from the edited schema file
	if n := s.indexed(t, s.path("tenants/1.db"), s.path("tenants/101.db"), s.path("tenants/102.db"), s.path("webapp/initial/1.db")); n != 4 {
		t.Errorf("%d of 4 files have the index", n)
	}
	if altered, err := os.Stat(s.path("webapp/initial/3.db")); err != nil || altered.Mode() != info.Mode() || altered.Size() <= info.Size() {
		t.Errorf("the altered original: %v, %v", altered, err)
	}
	if wiped, err := change.Wiped(t.Context(), s.open(s.dir), c); wiped || err != nil {
		t.Errorf("wiped before initialize: %v, %v", wiped, err)
	}
	s.initialize(t)
	s.create(t, s.path("tenants/103.db"), 10)
	if n := s.indexed(t, s.path("tenants/1.db"), s.path("tenants/103.db")); n != 2 {
		t.Errorf("%d of 2 files have the index after initialize", n)
	}
	if wiped, err := change.Wiped(t.Context(), s.open(s.dir), c); wiped || err != nil {
		t.Errorf("wiped by initialize: %v, %v", wiped, err)
	}
	if err := x.CheckUndoable(t.Context(), c.ID); err != nil {
		t.Error(err)
	}
	second := s.plan(t, h, fileRemedy("add index", "columns", "player_id")) // on top of the first
	if err := x.Apply(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	if ids, err := x.RevertAll(t.Context(), "test"); err != nil || len(ids) != 2 {
		t.Fatalf("reverted %v, %v", ids, err)
	}
	if n := s.indexed(t, s.path("tenants/1.db"), s.path("tenants/103.db")); n != 0 {
		t.Errorf("%d files keep the index after the undo", n)
	}
	if again, err := os.Stat(s.path("webapp/initial/3.db")); err != nil || !os.SameFile(again, info) {
		t.Errorf("the original is another file: %v", err)
	}
	s.initialize(t)
	if after, err := s.state(); err != nil || after != before {
		t.Errorf("after the undo\n%s\nwant\n%s", after, before)
	}
	// A change that initialize could not keep is known as wiped.
	site := s.open(s.dir)
	svc := site.Services["ledger"]
	svc.Originals, svc.Loads = "", nil
	site.Services["ledger"] = svc
	c, err = change.Plan(t.Context(), site, fileRemedy("add index", "columns", "player_id"))
	if err != nil {
		t.Fatal(err)
	}
	for _, op := range c.Do {
		if err := site.Perform(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	s.initialize(t)
	if wiped, err := change.Wiped(t.Context(), site, c); !wiped || err != nil {
		t.Errorf("wiped without originals: %v, %v", wiped, err)
	}
	if _, err := change.Plan(t.Context(), site, change.IntoSchemaFile(fileRemedy("add index", "columns", "player_id"))); err == nil || !strings.Contains(err.Error(), "by which table score would keep its index") {
		t.Errorf("into an unknown schema file: %v", err)
	}
}

// killedWithin names the folder of the site whose change a child applies and reverts
// until it is killed.
const killedWithin = "DDL_TEST_KILLED_WITHIN"

// A marking is a journal that makes a file once a change is on the way.
type marking struct {
	*history.History
	file string
}

func (m marking) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	err := m.History.MoveChange(id, to, why)
	if err == nil && (to == iikanji.Applying || to == iikanji.Reverting) {
		err = os.WriteFile(m.file, []byte(to.String()), 0o600)
	}
	return err
}

// TestFilesKilledWithin kills a process at random times within the operations, not only
// between them, and recovers.
func TestFilesKilledWithin(t *testing.T) {
	tier.Slow(t)
	if dir := os.Getenv(killedWithin); dir != "" {
		s := &fileSite{dir}
		x, h := s.executor(t, "history")
		x.Journal = marking{h, s.path("began")}
		for {
			c := s.plan(t, h, fileRemedy("add index", "columns", "tenant_id, player_id, row_num DESC"))
			if err := errors.Join(x.Apply(t.Context(), c.ID), x.Revert(t.Context(), c.ID, "test")); err != nil {
				t.Fatal(err)
			}
		}
	}
	s := newFileSite(t)
	for i := range 20 { // more files: more places to be killed at
		s.create(t, s.path("webapp/initial", fmt.Sprintf("%d.db", 10+i)), 500)
	}
	s.initialize(t)
	before, err := s.state()
	if err != nil {
		t.Fatal(err)
	}
	stages := map[iikanji.Stage]int{}
	within := func() int { return stages[iikanji.Applying] + stages[iikanji.Reverting] }
	for i := 0; i < 8 || within() < 3 && i < 40; i++ {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestFilesKilledWithin$")
		cmd.Env = append(os.Environ(), killedWithin+"="+s.dir)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		s.waitFor(t, "began", []iikanji.Stage{iikanji.Applying, iikanji.Reverting}[i%2])
		time.Sleep(time.Duration(7+23*i%190) * time.Millisecond)
		if err := errors.Join(cmd.Process.Kill(), os.Remove(s.path("began"))); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		x, h := s.executor(t, "history")
		changes, err := h.Changes()
		if err != nil {
			t.Fatal(err)
		}
		if len(changes) > 0 {
			stages[changes[len(changes)-1].Stage]++
		}
		if _, err := x.Recover(t.Context()); err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		if _, err := x.RevertAll(t.Context(), "test"); err != nil {
			t.Fatalf("kill %d: %v", i, err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		// A kill within host.Write leaves its temporary file, which no name leads to.
		unnamed, _ := filepath.Glob(s.path("webapp/sql/.10_schema.sql.*"))
		for _, path := range unnamed {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		if after, err := s.state(); err != nil || after != before {
			t.Fatalf("kill %d: %v\n%s", i, err, firstDifference(after, before))
		}
	}
	if within() < 3 {
		t.Errorf("no kill was within a change: %v", stages)
	}
	t.Logf("killed in %v", stages)
}

// waitFor waits for a file of the site that names a stage.
func (s *fileSite) waitFor(t *testing.T, name string, stage iikanji.Stage) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if b, err := os.ReadFile(s.path(name)); err == nil && string(b) == stage.String() {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s did not come", stage)
		}
	}
}

func TestFilesRefused(t *testing.T) {
	s := newFileSite(t)
	changetest.Refuse(t, s.open(s.dir), s.state, []struct {
		Remedy iikanji.Remedy
		Why    string
	}{
		{fileRemedy("add index", "columns", "row_num"), change.ErrNothing.Error()},
		{fileRemedy("drop index", "name", "no_such"), change.ErrNothing.Error()},
		{fileRemedy("add index", "columns", "nothing"), "has no column"},
		{fileRemedy("add index", "columns", "points(3)"), "has no column"},
		{fileRemedy("add index", "columns", "points", "index", "spatial"), "is not an index of a SQLite table"},
		{fileRemedy("add index", "columns", "points", "name", "player"), "cannot be used"},
		{fileRemedy("add index", "columns", "points", "name", "x\"; DROP TABLE score; --"), "cannot be used"},
		{fileRemedy("drop index", "name", "sqlite_autoindex_score_1"), "would drop a rule of the data"},
		{fileRemedy("add index", "columns", "points", "file", "/nowhere.sql"), "does not create table score"},
		{iikanji.Remedy{Kind: "ddl", Target: "ledger", Args: changetest.Args("act", "add index", "schema", "x", "table", "nothing", "columns", "a")}, "no SQLite file of ledger has a table nothing"},
	})
	s.exec(t, s.path("tenants/3.db"), "ALTER TABLE score ADD COLUMN extra TEXT")
	if _, err := change.Plan(t.Context(), s.open(s.dir), fileRemedy("add index", "columns", "points")); err == nil || !strings.Contains(err.Error(), "in different ways") {
		t.Errorf("files with different tables: %v", err)
	}
}

// firstDifference quotes two texts where they begin to differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			return fmt.Sprintf("line %d is\n%.500q\nwant\n%.500q", i, a[i], b[min(i, len(b)-1)])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(a), len(b))
}

// TestFilesWeaken: an index of SQLite files may change the order of rows without ORDER
// BY, unless the observed run proved that every statement sorts them; dropping one, too.
// A policy that allows nothing refuses the change then.
func TestFilesWeaken(t *testing.T) {
	s := newFileSite(t)
	site := s.open(s.dir)
	for _, r := range []iikanji.Remedy{fileRemedy("add index", "columns", "points"), fileRemedy("drop index", "name", "slow_one")} {
		for _, proven := range []bool{true, false} {
			if r.Proof = nil; proven {
				r.Proof = []iikanji.Proof{iikanji.RowsSorted}
			}
			c, err := change.Plan(t.Context(), site, r)
			if err != nil || len(c.Weakens) == 0 != proven || !proven && c.Weakens[0] != iikanji.RowOrder {
				t.Fatalf("%s, proven %v: %+v, %v", r.Args["act"], proven, c, err)
			}
			if proven {
				continue
			}
			h, err := history.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			if err := h.AddChange(c, change.Diff(c)); err != nil {
				t.Fatal(err)
			}
			if err := (&change.Executor{Hands: site, Journal: h}).Apply(t.Context(), c.ID); err == nil || !strings.Contains(err.Error(), "weakens the promise of row-order") {
				t.Errorf("%s without a proof: %v", r.Args["act"], err)
			}
		}
	}
}
