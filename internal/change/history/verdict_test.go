package history

import (
	"errors"
	"io/fs"
	"math"
	"reflect"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestVerdictComesBack: the latest verdict is read, each verdict is in the journal,
// and both are there after opening again.
func TestVerdictComesBack(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	c := &iikanji.Change{Kind: "ddl", Says: "index"}
	if err := h.AddChange(c, "+index\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.LoadVerdict(c.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a change without a verdict: %v", err)
	}
	looks := []*iikanji.Verdict{
		{Call: iikanji.CallUnknown, Reason: iikanji.TooFew, Base: []iikanji.RunID{1}, Tried: []iikanji.RunID{2}, Needed: 1},
		{Call: iikanji.Keep, Reason: iikanji.Proven, Base: []iikanji.RunID{1, 4}, Tried: []iikanji.RunID{2, 3},
			Effect: iikanji.Interval{Mid: 0.2, Lo: 0.1, Hi: 0.3, Level: 0.9}, Why: "+22 % <proven>",
			NewFaults: []iikanji.Fault{{Kind: iikanji.FaultTimeout, Count: 1}}},
	}
	for _, v := range looks {
		if err := h.SaveVerdict(c.ID, v); err != nil {
			t.Fatal(err)
		}
	}
	h.Close()

	h = open(t, dir)
	got, err := h.LoadVerdict(c.ID)
	if err != nil || !reflect.DeepEqual(got, looks[1]) {
		t.Errorf("came back as %+v, %v", got, err)
	}
	var judged []*iikanji.Verdict
	for _, e := range h.Events() {
		if e.What == Judged {
			judged = append(judged, e.Verdict)
		}
	}
	if !reflect.DeepEqual(judged, looks) {
		t.Errorf("the journal has %+v", judged)
	}
}

// TestVerdictRefused: a refused verdict is in neither the folder nor the journal.
func TestVerdictRefused(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	c := &iikanji.Change{Kind: "ddl"}
	if err := h.AddChange(c, ""); err != nil {
		t.Fatal(err)
	}
	before := len(h.Events())
	if err := h.SaveVerdict(c.ID+1, &iikanji.Verdict{}); err == nil {
		t.Error("a verdict on a missing change was saved")
	}
	if err := h.SaveVerdict(c.ID, &iikanji.Verdict{P: math.NaN()}); err == nil {
		t.Error("a verdict that cannot be encoded was saved")
	}
	if _, err := h.LoadVerdict(c.ID); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it left a file: %v", err)
	}
	h.Close()
	if err := h.SaveVerdict(c.ID, &iikanji.Verdict{}); err == nil {
		t.Error("a closed history was written")
	}
	if got := len(open(t, dir).Events()); got != before {
		t.Errorf("%d events, want %d", got, before)
	}
}
