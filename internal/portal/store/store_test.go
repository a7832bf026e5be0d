package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/machine/servertest"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/site/facts/factstest"
)

// engines runs a test on each engine.
func engines(t *testing.T, test func(t *testing.T, address string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "portal ä%.db")) })
	t.Run("mariadb", func(t *testing.T) {
		tier.Slow(t)
		s, err := factstest.Start(t.Context(), "") // a short path: it has a socket
		if err != nil {
			tier.Needs(t, "MariaDB", err.Error())
		}
		t.Cleanup(s.Stop)
		db, err := s.Open(t.Context(), "portal")
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		test(t, "mysql://root@localhost/portal?socket="+s.Socket)
	})
	t.Run("postgres", func(t *testing.T) {
		tier.Slow(t)
		folder := servertest.Postgres(t, func(string) []string { return nil })
		test(t, "postgres://postgres@/postgres?host="+folder+"&sslmode=disable")
	})
}

func opened(t *testing.T, address string) *Store {
	t.Helper()
	s, err := Open(t.Context(), address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func insert(tx *Tx, round, team, job string) error {
	_, err := tx.Exec("INSERT INTO open_jobs (round, team, job) VALUES (?, ?, ?)", round, team, job)
	return err
}

func count(t *testing.T, s *Store, where string, args ...any) (n int) {
	t.Helper()
	err := s.Read(t.Context(), func(tx *Tx) error { return tx.Row("SELECT COUNT(*) FROM open_jobs WHERE "+where, args, &n) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestStore: what the portal relies on, on each engine.
func TestStore(t *testing.T) {
	engines(t, func(t *testing.T, address string) {
		s := opened(t, address)
		ctx := t.Context()
		errStop := errors.New("stop")
		// An error undoes the write, and only that one.
		err := s.Write(ctx, "a", func(tx *Tx) error { return errors.Join(insert(tx, "r", "a", "1"), errStop) })
		if !errors.Is(err, errStop) || count(t, s, "team = ?", "a") != 0 {
			t.Errorf("an undone write: %v", err)
		}
		if err := s.Write(ctx, "a", func(tx *Tx) error { return insert(tx, "r", "a", "日本語 '\\\"") }); err != nil {
			t.Fatal(err)
		}
		if err := s.Write(ctx, "a", func(tx *Tx) error { return insert(tx, "r", "a", "2") }); !IsDuplicate(err) {
			t.Errorf("a key twice: %v", err)
		}
		if count(t, s, "job = ?", "日本語 '\\\"") != 1 || count(t, s, "team = ?", "A") != 0 {
			t.Error("texts are not kept as they are, or keys are compared without case")
		}
		// Affected rows are those that were found.
		for _, want := range []int64{1, 1, 0} {
			var n int64
			err := s.Write(ctx, "swap", func(tx *Tx) (err error) {
				n, err = tx.Exec("UPDATE open_jobs SET job = ? WHERE team = ? AND job <> ?", "x", "a", map[int64]string{1: "y", 0: "x"}[want])
				return err
			})
			if err != nil || n != want {
				t.Errorf("a swap changed %d rows, want %d: %v", n, want, err)
			}
		}
		at := time.Date(2027, 2, 6, 1, 2, 3, 456789000, time.UTC)
		var got, never time.Time
		err = s.Write(ctx, "time", func(tx *Tx) error {
			if _, err := tx.Exec("INSERT INTO windows (round, team, began) VALUES (?, ?, ?), (?, ?, ?)", "r", "a", at, "r", "b", time.Time{}); err != nil {
				return err
			}
			return errors.Join(tx.Row("SELECT began FROM windows WHERE team = ?", []any{"a"}, &got), tx.Row("SELECT began FROM windows WHERE team = ?", []any{"b"}, &never))
		})
		if err != nil || !got.Equal(at) || !never.IsZero() {
			t.Errorf("times %v and %v, %v", got, never, err)
		}
		if err := s.Read(ctx, func(tx *Tx) error { return tx.Row("SELECT began FROM windows WHERE team = ?", []any{"z"}, &got) }); !errors.Is(err, ErrNone) {
			t.Errorf("no row: %v", err)
		}
		together(ctx, t, s)
		reopened(t, s, address)
	})
}

// together writes from many goroutines: no write is lost, a counter is counted, and of those
// with one key one succeeds.
func together(ctx context.Context, t *testing.T, s *Store) {
	t.Helper()
	if err := s.Write(ctx, "round", func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO rounds (id, contest, state, version, last_event, relayed, published) VALUES ('r', 'c', 'ready', 1, 0, 0, 0)")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for i := range 60 {
		all.Go(func() {
			err := s.Write(ctx, "count", func(tx *Tx) error {
				if _, err := tx.Exec("UPDATE rounds SET last_event = last_event + 1 WHERE id = 'r'"); err != nil {
					return err
				}
				return insert(tx, "together", fmt.Sprint(i), "x")
			})
			if err != nil {
				t.Error(err)
			}
			err = s.Write(ctx, "one", func(tx *Tx) error { return insert(tx, "one", "team", fmt.Sprint(i)) })
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if !IsDuplicate(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	n := 0
	err := s.Read(ctx, func(tx *Tx) error { return tx.Row("SELECT last_event FROM rounds WHERE id = 'r'", nil, &n) })
	if err != nil || n != 60 || won != 1 || count(t, s, "round = 'together'") != 60 {
		t.Errorf("counted %d of 60, %d of 1 won, %v", n, won, err)
	}
}

// reopened opens the database a second time, and refuses a newer schema.
func reopened(t *testing.T, s *Store, address string) {
	t.Helper()
	other := opened(t, address)
	if count(t, other, "round = 'together'") != 60 {
		t.Error("a second opening does not see the first")
	}
	if err := s.Write(t.Context(), "newer", func(tx *Tx) error {
		_, err := tx.Exec("UPDATE portal_schema SET version = 99 WHERE id = 1")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	third, err := Open(t.Context(), address, Options{})
	if newer := (*NewerError)(nil); !errors.As(err, &newer) {
		third.Close()
		t.Errorf("a newer schema was opened: %v", err)
	}
}

// TestPanic: a write that panics is undone, and the writer goes on.
func TestPanic(t *testing.T) {
	s := opened(t, filepath.Join(t.TempDir(), "p.db"))
	err := s.Write(t.Context(), "panic", func(tx *Tx) error {
		if err := insert(tx, "r", "a", "1"); err != nil {
			return err
		}
		panic("on purpose")
	})
	if err == nil || count(t, s, "team = 'a'") != 0 {
		t.Errorf("a panic: %v", err)
	}
	if err := s.Write(t.Context(), "after", func(tx *Tx) error { return insert(tx, "r", "a", "1") }); err != nil {
		t.Error(err)
	}
}
