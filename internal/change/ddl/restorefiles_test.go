package ddl

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// TestRestoreFiles: indexes that were made, dropped or changed by hand in SQLite files are as in
// the former state again, and the undo brings the hand's back.
func TestRestoreFiles(t *testing.T) {
	tier.Slow(t)
	s := newFileSite(t)
	site := s.open(s.dir)
	state := func() string {
		t.Helper()
		text, err := s.state()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	const former = "CREATE INDEX slow_one ON score (row_num)"
	add, drop := map[string]string{"slow_one": former}, []string{"slow_one", "by_hand"}
	before := state()
	if _, err := RestoreFiles(t.Context(), site, "ledger", "score", add, []string{"by_hand"}); !errors.Is(err, change.ErrNothing) {
		t.Errorf("with nothing to restore: %v", err)
	}
	live, err := filepath.Glob(s.path("tenants", "*.db"))
	if err != nil || len(live) != tenants {
		t.Fatalf("%q, %v", live, err)
	}
	for _, path := range live {
		s.exec(t, path, "CREATE INDEX by_hand ON score (points)", "DROP INDEX slow_one", "CREATE INDEX slow_one ON score (row_num, points DESC)")
	}
	edited := state()
	c, err := RestoreFiles(t.Context(), site, "ledger", "score", add, drop)
	if err != nil {
		t.Fatal(err)
	}
	if err := change.Check(c); err != nil {
		t.Fatal(err)
	}
	a := newActs(t, site)
	if err := a.h.AddChange(c, change.Diff(c)); err != nil {
		t.Fatal(err)
	}
	if err := a.x.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	if now := state(); now != before {
		t.Errorf("restored:\n%s\nwant\n%s", now, before)
	}
	a.revert(c)
	if now := state(); now != edited {
		t.Errorf("the undo:\n%s\nwant\n%s", now, edited)
	}
	if _, err := RestoreFiles(t.Context(), site, "ledger", "score", map[string]string{"x": "CREATE INDEX x ON score (nothing)"}, nil); err == nil {
		t.Error("an index on a column that is not there is planned")
	}
}
