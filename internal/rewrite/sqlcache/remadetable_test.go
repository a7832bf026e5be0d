package sqlcache

import (
	"context"
	"database/sql"
	"slices"
	"testing"
)

const remadeChild = "SELECT * FROM item WHERE id = ?"

// TestRemadeTable: after a table was made anew, as an initialize request does, what is read
// ahead has the columns of the new one.
func TestRemadeTable(t *testing.T) {
	c, pool, _ := itemCache(t, "remade", 8<<20, true)
	plan := loopPlan()
	plan.Statements[0].Text = Fold(MySQL, remadeChild)
	plan.Batches[0].Child, plan.Batches[0].Head = remadeChild, "SELECT *, id FROM item WHERE id IN ("
	var err error
	if c.plan, err = compile(plan); err != nil {
		t.Fatal(err)
	}
	for _, columns := range []string{"id INT PRIMARY KEY, first VARCHAR(9), last VARCHAR(9)", "id INT PRIMARY KEY, last VARCHAR(9), first VARCHAR(9)"} {
		for _, text := range []string{"DROP TABLE item", "CREATE TABLE item (" + columns + ")", "INSERT INTO item (id, first, last) VALUES (1, 'a', 'z'), (2, 'b', 'y'), (3, 'c', 'x'), (4, 'd', 'w')"} {
			if _, err := pool.Exec(text); err != nil {
				t.Fatal(err)
			}
		}
		for range 2 {
			rows, err := pool.Query(benchParent)
			if err != nil {
				t.Fatal(err)
			}
			for rows.Next() {
			}
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
			for id := 1; id <= 4; id++ {
				if got, want := remadeFirst(t, pool, id), string(rune('a'+id-1)); got != want {
					t.Errorf("(%s): the column first of row %d is %q, want %q", columns, id, got, want)
				}
			}
			c.Flush()
		}
	}
	if b := c.texts.find(c.plan, remadeChild).batches[0]; count(&b.counts.sent) == 0 {
		t.Error("no batch was sent")
	}
}

// remadeFirst reads the column named first.
func remadeFirst(t *testing.T, pool *sql.DB, id int) (first string) {
	rows, err := pool.Query(remadeChild, id)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil || !rows.Next() {
		t.Fatal(err)
	}
	values := make([]sql.NullString, len(names))
	into := make([]any, len(names))
	for i := range into {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		t.Fatal(err)
	}
	return values[slices.Index(names, "first")].String
}

// TestChainedTransaction: COMMIT AND CHAIN opens a transaction, whose snapshot nobody else
// gets.
func TestChainedTransaction(t *testing.T) {
	_, pool, _ := itemCache(t, "chained", 8<<20, true)
	held, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	name := func(db interface {
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}, id int) (name sql.NullString) {
		var rest [4]any
		if err := db.QueryRowContext(t.Context(), readItem, id).Scan(&rest[0], &name, &rest[1], &rest[2], &rest[3]); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for _, text := range []string{"START TRANSACTION", "COMMIT AND CHAIN"} {
		if _, err := held.ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	name(held, 2) // takes the snapshot
	if _, err := pool.Exec("UPDATE item SET name = ? WHERE id = ?", "new", 1); err != nil {
		t.Fatal(err)
	}
	name(held, 1)
	if got := name(pool, 1); got.String != "new" {
		t.Errorf("after the write another connection reads %q", got.String)
	}
}
