package work

import (
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/day/work/difference"
	"github.com/iikanji/iikanji/internal/day/work/state"
	"github.com/iikanji/iikanji/internal/day/work/store"
)

// TestTouched: a file that two people have edited since a state has both times, by the turn or by
// who made the next run, and the last one counts. One person's edits, and iikanji's, are not told.
func TestTouched(t *testing.T) {
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const place = "/etc/nginx/nginx.conf"
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.Local)
	at := func(run iikanji.RunID, who, content string, minutes int) *state.State {
		changed := noon.Add(time.Duration(minutes) * time.Minute)
		return &state.State{Version: state.Version, Run: run, Who: who, At: changed.Add(time.Minute), Hosts: []state.Host{{
			Files: []state.File{{Path: place, Class: state.Text, SHA: content, Changed: changed}}}}}
	}
	base := at(1, "aoi", "a", 0)
	for _, s := range []*state.State{base, at(2, "aoi", "b", 10), at(3, "bo", "b", 10), at(4, "bo", "c", 20)} {
		if err := st.SaveState(s); err != nil {
			t.Fatal(err)
		}
	}
	d := &Day{Store: st}
	told := func(now *state.State, made ...difference.Made) string {
		t.Helper()
		edits := []difference.Edit{{Kind: difference.Directive, Place: place, Old: "a", New: iikanji.Fingerprint(now.Hosts[0].Files[0].SHA), ByHand: true}}
		if err := d.touched(base, now, edits, made); err != nil {
			t.Fatal(err)
		}
		return touchedText(edits[0].Touched)
	}
	if got := told(at(0, "bo", "c", 20)); got != "edited by aoi at 12:10:00, bo at 12:20:00: the last edit counts" {
		t.Errorf("two people: %q", got)
	}
	if got := told(at(3, "aoi", "b", 10)); got != "" {
		t.Errorf("the second edit is later than the state: %q", got)
	}
	if got := told(at(0, "bo", "c", 20), difference.Made{ID: 7, Left: map[string]iikanji.Fingerprint{place: "b"}}); got != "" {
		t.Errorf("the first edit is iikanji's: %q", got)
	}
	d.Turn = func(at time.Time) string {
		if at.Before(noon.Add(15 * time.Minute)) {
			return "chika"
		}
		return ""
	}
	if got := told(at(0, "bo", "c", 20)); !strings.HasPrefix(got, "edited by chika at 12:10:00, bo at") {
		t.Errorf("with the turn: %q", got)
	}
	d.Turn = func(time.Time) string { return "chika" }
	if got := told(at(0, "bo", "c", 20)); got != "" {
		t.Errorf("one person in one turn: %q", got)
	}
}
