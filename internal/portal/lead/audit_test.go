package lead

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji/internal/portal/carry"
	"github.com/iikanji/iikanji/internal/portal/store"
)

// TestAudit: the chain of the audit log is computed again from what is kept. A line that was
// changed, removed or put in is found.
func TestAudit(t *testing.T) {
	now := time.Date(2027, 2, 6, 1, 2, 3, 123456789, time.UTC) // times of a machine have nanoseconds
	s, err := store.Open(t.Context(), t.TempDir()+"/a.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	c := New(Options{Store: s, Carry: carry.NewMemory(time.Now), Now: func() time.Time { return now }})
	write := func(do func(tx *store.Tx) error) {
		t.Helper()
		if err := s.Write(t.Context(), "audit", do); err != nil {
			t.Fatal(err)
		}
	}
	exec := func(q string, args ...any) {
		t.Helper()
		write(func(tx *store.Tx) error {
			_, err := tx.Exec(q, args...)
			return err
		})
	}
	check := func(what string, lines, broken int64) {
		t.Helper()
		if n, first, err := c.CheckAudit(t.Context()); err != nil || n != lines || first != broken {
			t.Errorf("%s: %d lines, the first wrong one %d, %v; want %d and %d", what, n, first, err, lines, broken)
		}
	}
	check("nothing", 0, 0)
	for _, body := range []string{"one", "二", "three", "four"} {
		write(func(tx *store.Tx) error { return c.audit(tx, "a", "did", body) })
	}
	check("as written", 4, 0)
	exec("UPDATE audit SET body = 'two' WHERE number = 2")
	check("a changed line", 4, 2)
	exec("UPDATE audit SET body = '二' WHERE number = 2")
	exec("UPDATE audit SET at = at + 1 WHERE number = 3")
	check("a changed time", 4, 3)
	exec("UPDATE audit SET at = at - 1 WHERE number = 3")
	check("as it was", 4, 0)
	exec("DELETE FROM audit WHERE number = 3")
	check("a line less", 3, 4)
	exec("UPDATE audit SET number = 3 WHERE number = 4")
	check("a gap that was closed", 3, 3)
	exec("DELETE FROM audit WHERE number = 3")
	old := now.Add(time.Second)
	exec("INSERT INTO audit (number, at, account, what, body, chain) SELECT 3, ?, 'a', 'did', 'old', ? FROM audit WHERE number = 2", old, chained(t, s, old))
	check("a line of the first portals", 3, 0)
}

// chained is the hash of a line after the second one, of a time with nanoseconds.
func chained(t *testing.T, s *store.Store, at time.Time) string {
	t.Helper()
	chain := ""
	if err := s.Read(t.Context(), func(tx *store.Tx) error { return tx.Row("SELECT chain FROM audit WHERE number = 2", nil, &chain) }); err != nil {
		t.Fatal(err)
	}
	return link(chain, at, "a", "did", "old")
}
