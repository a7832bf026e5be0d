package rewrite

import (
	"context"
	"database/sql"
	"fmt"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestUnionAnswers compares the statement that APP205 writes for rows with LIMIT 1
// with one query per element, on a real server: keys that are equal in the database
// and differ in Go, and a key without a row, among them.
func TestUnionAnswers(t *testing.T) {
	ctx := context.Background()
	server, err := factstest.Start(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	db, err := server.Open(ctx, "lever")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{"CREATE TABLE lever.c (k VARCHAR(9), at INT, v VARCHAR(20))",
		"INSERT INTO lever.c VALUES ('a', 1, 'old'), ('a', 3, 'new'), ('a', 2, 'mid'), ('B', 1, 'b'), ('é', 5, 'accent')"} {
		if _, err := db.ExecContext(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	const query = "SELECT v FROM lever.c WHERE k = ? ORDER BY at DESC LIMIT 1"
	s, err := parse(query)
	if err != nil {
		t.Fatal(err)
	}
	for _, derived := range []bool{false, true} {
		compareUnion(ctx, t, db, s, query, derived)
	}
}

// compareUnion compares the union of the keys' rows with a query for each of them.
func compareUnion(ctx context.Context, t *testing.T, db *sql.DB, s *statement, query string, derived bool) {
	t.Helper()
	format, ok := unionArm(s, "value_", derived)
	if !ok {
		t.Fatal("the query has no arm")
	}
	keys := []string{"a", "A", "b", "none", "é"}
	text, args := "", []any{}
	for i, k := range keys {
		if i > 0 {
			text += " UNION ALL "
		}
		text += fmt.Sprintf(format, i)
		args = append(args, k)
	}
	got := map[string]string{}
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v string
		var at int
		if err := rows.Scan(&v, &at); err != nil {
			t.Fatal(err)
		}
		got[keys[at]] = v
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, k := range keys {
		var want string
		if err := db.QueryRowContext(ctx, query, k).Scan(&want); err == nil {
			found++
		}
		if got[k] != want {
			t.Errorf("derived %t: %q: %q, want %q", derived, k, got[k], want)
		}
	}
	if found < 3 {
		t.Errorf("only %d keys have a row: the test proves too little", found)
	}
}

// TestUnionSQLite: SQLite takes the derived form, and no other.
func TestUnionSQLite(t *testing.T) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, text := range []string{"CREATE TABLE c (k TEXT, at INT, v TEXT)", "INSERT INTO c VALUES ('a', 1, 'old'), ('a', 3, 'new'), ('b', 1, 'b'), ('é', 5, 'accent')"} {
		if _, err := db.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	const query = "SELECT v FROM c WHERE k = ? ORDER BY at DESC LIMIT 1"
	s, err := parse(query)
	if err != nil {
		t.Fatal(err)
	}
	compareUnion(t.Context(), t, db, s, query, true)
	plain, _ := unionArm(s, "value_", false)
	if rows, err := db.QueryContext(t.Context(), fmt.Sprintf(plain, 0)+" UNION ALL "+fmt.Sprintf(plain, 1), "a", "b"); err == nil {
		rows.Close()
		t.Error("SQLite takes a SELECT in parentheses: the derived form is not needed")
	}
}
