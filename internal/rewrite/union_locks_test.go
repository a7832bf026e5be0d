package rewrite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// TestUnionLocks: the statement that APP205 writes for rows that a loop locks locks the same rows
// on a real server, in the order of its keys, until the transaction ends.
func TestUnionLocks(t *testing.T) {
	tier.Slow(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
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
	for _, s := range []string{"CREATE TABLE c (k VARCHAR(9) PRIMARY KEY, v INT)", "INSERT INTO c VALUES ('a', 1), ('b', 2), ('c', 3), ('d', 4)"} {
		if _, err := db.ExecContext(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	for _, lock := range []string{"FOR UPDATE", "LOCK IN SHARE MODE"} {
		keys := []string{"c", "a", "none", "d"}
		tx, held := locksOf(ctx, t, db, lock, keys), []string(nil)
		if held = lockedBy(ctx, t, db, "FOR UPDATE"); !slices.Equal(held, []string{"a", "c", "d"}) {
			t.Errorf("%s: nobody else can write %v", lock, held)
		}
		if held = lockedBy(ctx, t, db, "LOCK IN SHARE MODE"); (lock == "FOR UPDATE") != (len(held) == 3) {
			t.Errorf("%s: nobody else can share %v", lock, held)
		}
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if held = lockedBy(ctx, t, db, "FOR UPDATE"); len(held) > 0 {
			t.Errorf("%s: after the end, %v are locked", lock, held)
		}
	}

	other, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(ctx, "SELECT * FROM c WHERE k = 'a' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan *sql.Tx)
	go func() { done <- locksOf(ctx, t, db, "FOR UPDATE", []string{"c", "a", "b", "d"}) }()
	for held := []string(nil); !slices.Contains(held, "c"); held = lockedBy(ctx, t, db, "FOR UPDATE") {
		if ctx.Err() != nil {
			t.Fatal("the first row is not locked")
		}
	}
	if held := lockedBy(ctx, t, db, "FOR UPDATE"); !slices.Equal(held, []string{"a", "c"}) {
		t.Errorf("while the second row is waited for, %v are locked: not in the order of the keys", held)
	}
	if err := other.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := (<-done).Rollback(); err != nil {
		t.Error(err)
	}
}

// locksOf begins a transaction with the union of the locks of some keys.
func locksOf(ctx context.Context, t *testing.T, db *sql.DB, lock string, keys []string) *sql.Tx {
	t.Helper()
	s, err := parse("SELECT v FROM c WHERE k = ? " + lock)
	if err != nil {
		t.Error(err)
	}
	format, ok := unionArm(s, "", false)
	if !ok {
		t.Error("the query has no arm")
	}
	var arms []string
	var args []any
	for i, k := range keys {
		arms, args = append(arms, fmt.Sprintf(format, i)), append(args, k)
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Error(err)
		return nil
	}
	rows, err := tx.QueryContext(ctx, strings.Join(arms, " UNION ALL "), args...)
	if err != nil {
		t.Errorf("%s: %v", lock, err)
		return tx
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
	}
	if rows.Err() != nil || n < 3 {
		t.Errorf("%s: %d rows, %v", lock, n, rows.Err())
	}
	return tx
}

// lockedBy are the keys that somebody else has locked.
func lockedBy(ctx context.Context, t *testing.T, db *sql.DB, lock string) (held []string) {
	t.Helper()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for _, k := range []string{"a", "b", "c", "d"} {
		if _, err := tx.ExecContext(ctx, "SELECT * FROM c WHERE k = ? "+lock+" NOWAIT", k); err != nil {
			held = append(held, k)
		}
	}
	return held
}
