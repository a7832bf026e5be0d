package sqlitefile

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/iikanji/iikanji/internal/lang/catalog"
)

// FuzzPlanLine reads lines of query plans, which have names of the app's tables.
func FuzzPlanLine(f *testing.F) {
	for _, line := range []string{"SCAN t", "SEARCH t USING COVERING INDEX x (a=? AND b>?)", "SEARCH t USING AUTOMATIC PARTIAL COVERING INDEX (a=?)",
		"SEARCH t USING INTEGER PRIMARY KEY (rowid>?)", "USE TEMP B-TREE FOR ORDER BY", "MULTI-INDEX OR"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var p catalog.QueryPlan
		addDetail(&p, line)
		if len(p.Steps) > 1 || len(p.Steps) == 1 && p.Steps[0].Table == "" {
			t.Errorf("%q: %+v", line, p)
		}
	})
}

// FuzzPlaceholders: a statement that SQLite plans gets all arguments that it has.
func FuzzPlaceholders(f *testing.F) {
	for _, text := range []string{"SELECT '?' || \"a?\" /* ? */ FROM t WHERE a = ? -- ?\n AND b = ?", "SELECT ?2, ?1, ?2", "SELECT :a, @a, $a, :a, ?", "SELECT ?3, ?, '?'", "SELECT ?99999999999"} {
		f.Add(text)
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		f.Fatal(err)
	}
	defer db.Close()
	f.Fuzz(func(t *testing.T, text string) {
		args := arguments(text)
		if len(args) > mostArguments+len(text) {
			t.Fatalf("%q: %d arguments", text, len(args))
		}
		if strings.Contains(text, ";") {
			return
		}
		rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
		if err != nil {
			if strings.Contains(err.Error(), "missing") {
				t.Errorf("%q with %v: %v", text, args, err)
			}
			return
		}
		rows.Close()
	})
}
