package appenv

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// openings are sources that open SQLite files. <old|new> marks each edit; all other
// bytes must stay.
var openings = map[string]string{
	"a chain, a driver of the app's own": `package main

import (
	"net/url"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"
)

func open(driver, path string) (*sqlx.DB, error) {
	return sqlx.Open(driver, "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw&_pragma=busy_timeout(5000)<|&_pragma=synchronous(OFF)>")
}
`,
	"a file that a lever keeps open": `package main

import (
	"fmt"

	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"
)

type kept struct{}

func (kept) open(dsn string, again func() (*sqlx.DB, error)) (*sqlx.DB, error) { return again() }

var files kept

func open(driver string, id int) (*sqlx.DB, error) {
	return files.open(fmt.Sprintf("file:%d.db?mode=rw", id), func() (*sqlx.DB, error) {
		return sqlx.Open(driver, fmt.Sprintf("file:%d.db?mode=rw<|&_pragma=synchronous(OFF)>", id))
	})
}
`,
	"a format": `package main

import (
	"database/sql"
	"fmt"

	_ "github.com/mattn/go-sqlite3"
)

func open(id int) (*sql.DB, error) { return sql.Open("sqlite3", fmt.Sprintf("file:%d.db?mode=rw<|&_synchronous=OFF>", id)) }
`,
	"a name alone, and another database": `package main

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func open() {
	sql.Open("sqlite", "app.db<|?_pragma=synchronous(OFF)>")
	sql.Open("mysql", "me@tcp(h)/db?x=1")
}
`,
	"with the query cache": `package main

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func open() { sql.Open("sqlite+cache", "app.db<|?_pragma=synchronous(OFF)>") }
`,
	"another value": `package main

import (
	"database/sql"

	_ "github.com/mattn/go-sqlite3"
)

func open() { sql.Open("sqlite3", "file:app.db?<_sync=2|_synchronous=OFF>&_journal=TRUNCATE") }
`,
	"a pragma": `package main

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

func open() { sql.Open("sqlite", "file:app.db?<_pragma=synchronous=NORMAL|_pragma=synchronous(OFF)>&_pragma=journal_mode(TRUNCATE)") }
`,
}

var marked = regexp.MustCompile(`<([^<|>]*)\|([^<|>]*)>`)

func TestSQLiteDSN(t *testing.T) {
	for name, text := range openings {
		s := sourceSite(t, map[string]string{"main.go": marked.ReplaceAllString(text, "$1")})
		src, err := readSource(s, "", s.Services["app"].Source)
		if err != nil {
			t.Fatal(err)
		}
		if err := src.setSQLite(pragmas{{"synchronous", "OFF"}}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		edits, err := src.edits()
		if want := marked.ReplaceAllString(text, "$2"); err != nil || len(edits) != 1 || string(edits[0].New) != want {
			t.Errorf("%s: %v\n%v\nwant\n%s", name, err, edits, want)
		}
	}
}

// TestSQLiteOfArena: the opening in an app with a file for each tenant is edited.
func TestSQLiteOfArena(t *testing.T) {
	files := map[string]string{}
	const folder = "../../../arenas/isuports/files/_go"
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		text, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimSuffix(f.Name(), ".txt")] = string(text)
	}
	s := sourceSite(t, files)
	dir := s.Services["app"].Source
	src, err := readSource(s, "", dir)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "tenantdb.go"))
	if err != nil {
		t.Fatal(err)
	}
	err = src.setSQLite(pragmas{{"synchronous", "OFF"}})
	edits, editErr := src.edits()
	if err != nil || editErr != nil || len(edits) != 1 {
		t.Fatalf("%v, %v, %d edits", err, editErr, len(edits))
	}
	// The call that opens is the last place with this text.
	const dsn = "?mode=rw&_pragma=busy_timeout(5000)"
	at := strings.LastIndex(string(before), dsn) + len(dsn)
	if want := string(before[:at]) + "&_pragma=synchronous(OFF)" + string(before[at:]); string(edits[0].New) != want {
		t.Errorf("%s", edits[0].New)
	}
}

// TestSQLiteRefused: where the parameters of a DSN are not known, or its driver, nothing
// is edited.
func TestSQLiteRefused(t *testing.T) {
	for text, want := range map[string]string{
		"import (\n\t\"database/sql\"\n\n\t_ \"modernc.org/sqlite\"\n)\n\nfunc f(p string) { sql.Open(\"sqlite\", \"file:\"+p) }":                                     "a part of it is an expression",
		"import (\n\t\"database/sql\"\n\n\t_ \"modernc.org/sqlite\"\n)\n\nfunc f(p string) { sql.Open(\"sqlite\", \"file:a?_pragma=synchronous(\"+p+\")&mode=rw\") }": "is not a literal",
		"import \"database/sql\"\n\nfunc f() { sql.Open(\"sqlite\", \"file:a\") }":                                                                                    "no driver of SQLite",
		"import _ \"modernc.org/sqlite\"\n\nfunc f() {}":                                                                                                              "opens no SQLite file",
	} {
		s := sourceSite(t, map[string]string{"main.go": "package main\n\n" + text + "\n"})
		src, err := readSource(s, "", s.Services["app"].Source)
		if err != nil {
			t.Fatal(err)
		}
		if err := src.setSQLite(pragmas{{"synchronous", "OFF"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n%v, want %q", text, err, want)
		}
	}
	for _, bad := range []string{"", "synchronous", "synchronous=off", "journal_mode=MEMORY", "journal_mode=WAL", "synchronous=OFF&synchronous=FULL", "temp_store=2", "synchronous=OFF);x"} {
		if err := new(pragmas).UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// FuzzPragmas edits the texts of DSNs. What is set once is found, and set again with no
// further edit.
func FuzzPragmas(f *testing.F) {
	f.Add("file:\x01?mode=rw&_pragma=busy_timeout(5000)", false)
	f.Add("a.db?_sync=2&_journal_mode=WAL", true)
	f.Add("a.db", true)
	f.Fuzz(func(t *testing.T, text string, own bool) {
		settings := pragmas{{"synchronous", "OFF"}, {"journal_mode", "TRUNCATE"}}
		edits, err := withPragmas(text, !strings.Contains(text, hole), settings, own)
		if err != nil {
			return
		}
		once := splices(edits).apply(text)
		again, err := withPragmas(once, !strings.Contains(once, hole), settings, own)
		if err != nil || len(again) > 0 {
			t.Errorf("%q became %q, which is edited again: %v, %v", text, once, again, err)
		}
	})
}
