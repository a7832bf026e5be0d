package observe

import (
	"database/sql"
	"testing"

	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// openDatabase starts a real database server for a test, and opens a new schema.
func openDatabase(t *testing.T, schema string) (*factstest.Server, *sql.DB) {
	t.Helper()
	srv, err := factstest.Start(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Stop)
	db, err := srv.Open(t.Context(), schema)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return srv, db
}

// runAll executes statements.
func runAll(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
