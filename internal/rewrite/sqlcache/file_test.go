package sqlcache

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"
)

// openRegistered opens a file by the registered driver of a cache.
func openRegistered(t *testing.T, driver, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// makeNotes makes a file whose first note has a text.
func makeNotes(t *testing.T, file, text string) {
	t.Helper()
	db := sql.OpenDB(dsnConnector{&sqlite.Driver{}, file})
	defer db.Close()
	if _, err := db.Exec(createNote + "; UPDATE note SET text = '" + text + "' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
}

// TestReplacedFile: an announced program puts another file in the place of one that is
// open. The connection from before goes on with the old file, and none of its answers
// reaches a connection to the new one.
func TestReplacedFile(t *testing.T) {
	dir := t.TempDir()
	file, next := filepath.Join(dir, "note.db"), filepath.Join(dir, "next.db")
	makeNotes(t, file, "old")
	makeNotes(t, next, "new")
	c := Register("replaced+cache", "sqlite", notePlan(), Options{Bytes: 1 << 20})
	before := openRegistered(t, "replaced+cache", file)
	note(t, before, 1)
	if note(t, before, 1); hits(c) != 1 {
		t.Fatalf("%d hits, want 1", hits(c))
	}
	end := c.Outside()
	if err := os.Rename(next, file); err != nil {
		t.Fatal(err)
	}
	end()
	for range 2 {
		if got := note(t, before, 1); got != "old" {
			t.Errorf("the connection from before reads %q", got)
		}
	}
	after := openRegistered(t, "replaced+cache", file)
	for range 2 {
		if got := note(t, after, 1); got != "new" {
			t.Errorf("a new connection reads %q", got)
		}
	}
	if n := hits(c); n != 2 {
		t.Errorf("%d hits, want 2: the new file's answers are kept, and only those", n)
	}
}

// TestOpenedOutside: a file that is opened for the first time while a program runs gives
// no answer to the cache before the program has ended.
func TestOpenedOutside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "note.db")
	makeNotes(t, file, "old")
	c := Register("outside+cache", "sqlite", notePlan(), Options{Bytes: 1 << 20})
	end := c.Outside()
	db := openRegistered(t, "outside+cache", file)
	note(t, db, 1)
	if _, err := openFile(t, file, "SELECT 1").Exec("UPDATE note SET text = 'new' WHERE id = 1"); err != nil {
		t.Fatal(err)
	}
	if got := note(t, db, 1); got != "new" {
		t.Errorf("%q while the program runs", got)
	}
	end()
	note(t, db, 1)
	if note(t, db, 1); hits(c) != 1 {
		t.Errorf("%d hits after the program has ended, want 1", hits(c))
	}
}

// TestLinkMoves: a link that leads to another file when its name is opened again gives no
// answer of the file before, and a pool that is still open switches the cache off.
func TestLinkMoves(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link.db")
	lead := func(text string) {
		t.Helper()
		file := filepath.Join(dir, text+".db")
		makeNotes(t, file, text)
		if err := os.Symlink(file, link+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link+".new", link); err != nil {
			t.Fatal(err)
		}
	}
	lead("one")
	c := Register("link+cache", "sqlite", notePlan(), Options{Bytes: 1 << 20})
	first := openRegistered(t, "link+cache", link)
	note(t, first, 1)
	lead("two")
	if got := note(t, openRegistered(t, "link+cache", link), 1); got != "two" {
		t.Errorf("the name leads to %q", got)
	}
	if c.off {
		t.Error("the cache is off")
	}
	first.SetMaxIdleConns(0) // its next connection follows the link
	if got := note(t, first, 1); got != "two" || !c.off {
		t.Errorf("%q, the cache is off: %v", got, c.off)
	}
}
