package sqlitefile

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatementsOf: the statements of a file make the same tables in another one.
func TestStatementsOf(t *testing.T) {
	dir := t.TempDir()
	make := func(name, statements string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.Exec(statements); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, err := StatementsOf(t.Context(), make("a.db", `CREATE VIEW v AS SELECT id FROM t;
CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, s TEXT UNIQUE);
CREATE INDEX i ON t (s, id);
CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET s = ';'; END;
INSERT INTO t (s) VALUES ('a')`))
	if err != nil || strings.Index(first, "CREATE TABLE t") > strings.Index(first, "CREATE VIEW") || strings.Contains(first, "sqlite_") {
		t.Fatalf("%s, %v", first, err)
	}
	if again, err := StatementsOf(t.Context(), make("b.db", first)); err != nil || again != first {
		t.Errorf("%s, %v\nwant\n%s", again, err, first)
	}
	if text, err := StatementsOf(t.Context(), filepath.Join(dir, "none.db")); err != nil || text != "" {
		t.Errorf("a file that does not exist: %q, %v", text, err)
	}
}
