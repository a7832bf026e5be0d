package lever

import (
	"context"
	"fmt"
	"testing"

	"github.com/iikanji/iikanji/internal/facts/factstest"
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
	format, ok := unionArm(s, "value_")
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
			t.Errorf("%q: %q, want %q", k, got[k], want)
		}
	}
	if found < 3 {
		t.Errorf("only %d keys have a row: the test proves too little", found)
	}
}
