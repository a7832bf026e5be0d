package history

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// TestChangeComesBack: a change is read as it was planned, at the stage of its last
// event, and only allowed moves are written.
func TestChangeComesBack(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	c := &iikanji.Change{Kind: "nginxconf", Target: "nginx", Says: "keep-alive <b>", Ground: "aa", Risk: iikanji.RiskReload,
		Do:      []iikanji.Op{{Verb: iikanji.Write, Place: "/x", Body: "new\x00\n", Expect: "aa"}},
		Undo:    []iikanji.Op{{Verb: iikanji.Write, Place: "/x", Body: "old", Expect: "bb"}},
		Weakens: []iikanji.Promise{iikanji.Observability}}
	if err := h.AddChange(c, "-old\n+new\n"); err != nil {
		t.Fatal(err)
	}
	for _, to := range []iikanji.Stage{iikanji.Applying, iikanji.Applied, iikanji.Reverting, iikanji.Stuck, iikanji.Reverting} {
		if err := h.MoveChange(c.ID, to, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range []iikanji.Stage{iikanji.Applied, iikanji.Kept, iikanji.Planned, iikanji.StageUnknown} {
		if err := h.MoveChange(c.ID, to, ""); err == nil {
			t.Errorf("reverting → %v was written", to)
		}
	}
	if err := h.MoveChange(77, iikanji.Applying, ""); err == nil {
		t.Error("a change that was never planned was moved")
	}
	h.Close()

	h = open(t, dir)
	got, err := h.LoadChange(c.ID)
	if err != nil {
		t.Fatal(err)
	}
	want := *c
	want.Stage = iikanji.Reverting
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("came back as %+v, want %+v", *got, want)
	}
	if d, err := h.Diff(c.ID); err != nil || d != "-old\n+new\n" {
		t.Errorf("diff %q, %v", d, err)
	}
	if all, err := h.Changes(); err != nil || len(all) != 1 || all[0].ID != c.ID {
		t.Errorf("%v %v", all, err)
	}
	if _, err := h.LoadChange(9); err == nil || !strings.Contains(err.Error(), "no change 9") {
		t.Errorf("got %v", err)
	}
	next := &iikanji.Change{}
	if err := h.AddChange(next, ""); err != nil || next.ID != c.ID+1 {
		t.Errorf("next change is %d, %v", next.ID, err)
	}
}

// TestUnfinishedChange: a folder whose change was never written, as a full disk leaves it, is no
// obstacle for the commands after it.
func TestUnfinishedChange(t *testing.T) {
	dir := t.TempDir()
	h := open(t, dir)
	if err := os.Mkdir(filepath.Join(dir, "changes", "0001"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := h.Unrecorded(); err != nil || len(got) != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := h.LoadChange(1); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "there is no change 1 in ") {
		t.Errorf("%v", err)
	}
}
