package sqlcache

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/rewrite/sqlcache/model"
)

// 125 rounds are 200,000 calls.
var fileRounds = flag.Int("file-rounds", 125, "histories of TestModelSQLite, of 1,600 calls each")

// fileDSN names a file in WAL mode, whose writers wait for each other.
func fileDSN(file string) string {
	return "file:" + (&url.URL{Path: file}).EscapedPath() + "?_pragma=busy_timeout(2000)&_pragma=journal_mode(WAL)&_pragma=synchronous(OFF)"
}

func fileConnector(file string) driver.Connector {
	return dsnConnector{&sqlite.Driver{}, fileDSN(file)}
}

// openFile opens a file past the cache and makes tables in it.
func openFile(t testing.TB, file, create string) *sql.DB {
	db := sql.OpenDB(fileConnector(file))
	t.Cleanup(func() { db.Close() })
	if _, err := db.Exec(create); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestModelSQLite is the model on a file of SQLite: clients with transactions, with
// statements that are interrupted, and with writes past the cache.
func TestModelSQLite(t *testing.T) {
	tier.Slow(t)
	collectLess(t)
	file := filepath.Join(t.TempDir(), "model.db")
	direct := openFile(t, file, model.CreateSQLite)
	cache, err := New(modelPlanSQLite(), Options{Bytes: 1 << 20, Eager: true})
	if err != nil {
		t.Fatal(err)
	}
	slow := model.Slow(fileConnector(file), 0.05, time.Millisecond, 0)
	cached := cache.Connector(slow, fileDSN(file))
	open := func() *sql.DB {
		pool := sql.OpenDB(cached)
		pool.SetMaxIdleConns(20)
		return pool
	}
	begin := time.Now()
	counts, err := model.Run(t.Context(), model.Setup{Open: open, Direct: direct, Outside: cache.Outside, Wait: slow.Wait, SQLite: true},
		model.Options{Seed: 1, Rounds: *fileRounds, Clients: 8, Calls: 200, Trouble: 0.5})
	t.Logf("%+v in %v", counts, time.Since(begin))
	if err != nil {
		t.Fatal(err)
	}
	enoughToProve(t, cache, counts, *fileRounds)
}

const (
	readNote   = "SELECT text FROM note WHERE id = ?1"
	writeNote  = "UPDATE note SET text = ? WHERE id = ? RETURNING id"
	createNote = "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note VALUES (1, 'a'), (2, 'b')"
)

func notePlan() Plan {
	return Plan{
		Dialect:         SQLite,
		SelectsOnlyRead: true,
		Tables:          []Table{{"note", []Column{{"id", Integer}}}},
		Statements: []Statement{
			{Text: Fold(SQLite, readNote), Keep: true, Reads: []Touch{{"note", []Key{{Column: "id", Groups: []int{0}}}}}},
			{Text: Fold(SQLite, writeNote), Writes: []Touch{{"note", []Key{{Column: "id", Groups: []int{1}}}}}},
		},
	}
}

func note(t *testing.T, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}, id int) (text string) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), readNote, id).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func hits(c *Cache) (n int64) {
	for _, s := range c.Stats().Statements {
		n += s.Hits
	}
	return n
}

// TestFiles: every file has answers of its own, a pool that is opened again finds them,
// and a write by any name of the file ends them.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one.db"), filepath.Join(dir, "two.db")
	openFile(t, one, createNote)
	if _, err := openFile(t, two, createNote).Exec("UPDATE note SET text = 'two'"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(one, filepath.Join(dir, "link.db")); err != nil {
		t.Fatal(err)
	}
	c := Register("files+cache", "sqlite", notePlan(), Options{Bytes: 1 << 20})
	open := func(dsn string) *sql.DB {
		db, err := sql.Open("files+cache", dsn)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return db
	}
	for range 2 { // the second time by pools that are opened again
		a, b := open(fileDSN(one)), open(fileDSN(two))
		if note(t, a, 1) != "a" || note(t, b, 1) != "two" {
			t.Fatal("an answer of another file")
		}
	}
	if n := hits(c); n != 2 {
		t.Errorf("%d hits after both files were read again, want 2", n)
	}
	reader := open(fileDSN(one))
	for i, name := range []string{one, "file://" + one, "file://localhost" + one, "file:" + dir + "/on%65.db", filepath.Join(dir, "link.db"), one + "?mode=memory"} {
		var id int
		text := string(rune('k' + i))
		if err := open(name).QueryRow(writeNote, text, 1).Scan(&id); err != nil || note(t, reader, 1) != text {
			t.Errorf("%s: after a write by this name %q, %v", name, note(t, reader, 1), err)
		}
		note(t, reader, 1)
	}
	before := hits(c)
	if before < 8 {
		t.Errorf("%d hits", before)
	}
	if _, err := open(fileDSN(two)).Exec("ATTACH ? AS other", one); err != nil {
		t.Fatal(err)
	}
	note(t, reader, 1)
	if hits(c) != before {
		t.Error("an answer was kept although another file's connection can write")
	}
}

// TestUnknownFile: a name whose file cannot be told switches the cache off.
func TestUnknownFile(t *testing.T) {
	for name, want := range map[string]struct{ cached, off bool }{
		"a.db": {true, false}, "file:a.db?mode=ro": {true, false}, ":memory:": {}, "": {}, "file:x?mode=memory": {},
		"file:a.db?vfs=unix-none": {false, true}, "file://elsewhere/a.db": {false, true}, "file:%zz": {false, true}, "none/a.db": {false, true},
	} {
		c, err := New(notePlan(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.space(name) != nil; got != want.cached || c.off != want.off {
			t.Errorf("%q: cached %v, off %v, want %v", name, got, c.off, want)
		}
		if s := c.space("later.db"); inDoubt(s.everything.load()) != want.off {
			t.Errorf("%q: the next file is in doubt: %v", name, !want.off)
		}
	}
}

// TestCommitRefused: a COMMIT that finds the file locked does not end the doubt of
// writes that are still to come.
func TestCommitRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "refused.db")
	base := dsnConnector{&sqlite.Driver{}, file} // with a rollback journal, and without waiting
	direct := sql.OpenDB(base)
	if _, err := direct.Exec(createNote); err != nil {
		t.Fatal(err)
	}
	if err := direct.Close(); err != nil {
		t.Fatal(err)
	}
	c, err := New(notePlan(), Options{Bytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	pool := sql.OpenDB(c.Connector(base, file))
	defer pool.Close()
	note(t, pool, 1)
	tx, err := pool.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec("UPDATE note SET text = 'new' WHERE id + 0 = 1"); err != nil {
		t.Fatal(err)
	}
	rows, err := pool.Query("SELECT a.id FROM note a, note b") // its lock refuses the commit
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	if err := tx.Commit(); err == nil {
		t.Fatal("the commit was not refused")
	}
	rows.Close()
	for range 2 {
		if got := note(t, pool, 1); got != "a" {
			t.Errorf("%q after the refused commit", got)
		}
	}
	if n := hits(c); n != 1 {
		t.Errorf("%d hits after the transaction has ended, want 1", n)
	}
}
