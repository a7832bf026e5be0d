package work

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
)

// TestBackInFiles: an index that was made by hand in SQLite files, and one that was dropped there,
// are planned in one change; a table that was made stays.
func TestBackInFiles(t *testing.T) {
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const table, hand, former = "CREATE TABLE score (id INTEGER PRIMARY KEY, points INTEGER)", "CREATE INDEX by_hand ON score (points)", "CREATE INDEX former ON score (points DESC)"
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "1.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{table, hand} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	at := func(run iikanji.RunID, tables map[string]string) *state.State {
		tables["table score"] = table
		return &state.State{Run: run, Hosts: []state.Host{{Files: []state.File{{Path: "/etc/hostname", Class: state.Secret, SHA: "x"}},
			Services: []state.Service{{Name: "ledger", Engine: iikanji.EngineSQLite, Tables: tables}}}}}
	}
	d := &Day{Store: st, Site: &change.Site{Services: map[string]change.Service{"ledger": {Files: []string{dir}}}}}
	now := at(2, map[string]string{"index by_hand": hand, "table extra": "CREATE TABLE extra (id INTEGER)"})
	then := at(1, map[string]string{"index former": former})
	b, err := d.PlanBack(t.Context(), now, then, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Stays) != 1 || b.Stays[0].Place != "table extra" || b.Change == nil || len(b.Change.Do) != 1 {
		t.Fatalf("%+v", b)
	}
	if text := b.Change.Do[0].Body; !strings.Contains(text, former) || !strings.Contains(text, `DROP INDEX "by_hand"`) {
		t.Errorf("it does %s", text)
	}
	if err := os.Remove(filepath.Join(dir, "1.db")); err != nil {
		t.Fatal(err)
	}
	if b, err = d.PlanBack(t.Context(), now, then, nil); err != nil || b.Change != nil || len(b.Stays) != 2 {
		t.Errorf("without the files: %+v, %v", b, err)
	}
}
