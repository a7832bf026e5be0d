package work_test

import (
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/day/work"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
)

// TestByHandOf: runs are of one state only if the same edits had an effect in them. A run of a
// search is of the state that the search began with, whatever was edited since, and an edit
// between two searches parts their runs.
func TestByHandOf(t *testing.T) {
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	d := &work.Day{Store: st, History: h}
	morning := time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return morning.Add(time.Duration(minutes) * time.Minute) }
	// look is the state with a text in app.rb that was written and started at these times.
	look := func(text string, written, started int) *state.State {
		t.Helper()
		sum, err := st.Put([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s := &state.State{Version: state.Version, At: at(started + 1), Hosts: []state.Host{{
			Files:    []state.File{{Path: "/app/app.rb", Class: state.Text, SHA: sum, Changed: at(written)}},
			Services: []state.Service{{Name: "app", Role: iikanji.RoleApp, Engine: iikanji.EngineRuby, Source: "/app", Started: at(started)}},
		}}}
		if err := s.Fingerprinted(); err != nil {
			t.Fatal(err)
		}
		return s
	}
	saved := func(s *state.State, id, ends iikanji.RunID) {
		t.Helper()
		s.Ends = ends
		if err := d.Save(s, id); err != nil {
			t.Fatal(err)
		}
	}
	key := func(id iikanji.RunID, of iikanji.Fingerprint, wantOwn bool) string {
		t.Helper()
		key, _, _, own := d.ByHandOf(&iikanji.Run{ID: id, State: of})
		if own != wantOwn {
			t.Errorf("run %d is its state's own: %v", id, own)
		}
		return key
	}
	first, edited, loaded, edited2 := look("one", 0, 1), look("two", 5, 1), look("two", 5, 8), look("three", 20, 21)
	saved(first, 1, 0)
	saved(edited, 2, 0)
	saved(loaded, 3, 0)
	saved(look("two", 5, 9), 4, 0)  // a search begins
	saved(look("two", 5, 15), 7, 4) // and ends
	saved(edited2, 8, 0)            // the next one begins
	if edited.Fingerprint != loaded.Fingerprint {
		t.Fatal("a restart changes a fingerprint")
	}
	if a, b := key(2, edited.Fingerprint, true), key(3, loaded.Fingerprint, true); a == b {
		t.Errorf("an edit that was not loaded, and loaded, are one state: %s", a)
	}
	if a, b := key(1, first.Fingerprint, true), key(9, first.Fingerprint, true); a != b {
		t.Errorf("an arm of a proof has the key %s, its state %s", b, a)
	}
	begin, last := key(4, "untouched", false), key(7, "untouched", false)
	if begin != key(5, "untouched", false) || begin != last || begin == key(6, "with an index", false) {
		t.Errorf("the search's runs: %s, %s", begin, last)
	}
	if next := key(8, "untouched", false); next == begin {
		t.Errorf("an edit between two searches does not part them: %s", next)
	}
	if a, b := key(2, "", true), key(3, "", true); a == b || a == key(2, edited.Fingerprint, true) {
		t.Errorf("runs whose state could not be taken: %s, %s", a, b)
	}
}
