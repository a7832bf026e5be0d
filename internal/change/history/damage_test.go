package history

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// halfHistory has change 1 that is kept and change 2 that was killed after its
// first operation.
func halfHistory(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "history")
	h, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for id := iikanji.ChangeID(1); id <= 2; id++ {
		c := &iikanji.Change{Kind: "k", Target: "t", Says: "s"}
		err = errors.Join(err, h.AddChange(c, ""), h.MoveChange(id, iikanji.Applying, ""),
			h.Append(Event{What: OpBegun, Change: id, Side: Do, Op: 1}), h.Append(Event{What: OpDone, Change: id, Side: Do, Op: 1}))
		if id == 1 {
			err = errors.Join(err, h.MoveChange(id, iikanji.Applied, ""), h.MoveChange(id, iikanji.Kept, ""))
		}
	}
	if err := errors.Join(err, h.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestDamage damages or removes each line of a journal in turn. Damage is never
// silent: it is reported, or the journal still states the same, or a change has
// no event left.
func TestDamage(t *testing.T) {
	tier.Slow(t)
	whole, err := os.ReadFile(filepath.Join(halfHistory(t), journalName))
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	for i := range lines {
		for _, how := range []string{"damaged", "removed", "cut"} {
			dir := halfHistory(t)
			text := slices.Clone(lines)
			switch how {
			case "damaged":
				text[i] = append(bytes.Repeat([]byte{0}, len(lines[i])-1), '\n')
			case "removed":
				text = slices.Delete(text, i, i+1)
			case "cut":
				text = text[:i]
			}
			if err := os.WriteFile(filepath.Join(dir, journalName), bytes.Join(text, nil), 0o600); err != nil {
				t.Fatal(err)
			}
			h, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			uncertain, err := h.Uncertain()
			if err != nil {
				t.Fatal(err)
			}
			ids := []iikanji.ChangeID{}
			for _, c := range uncertain {
				ids = append(ids, c.ID)
			}
			// After its last event, change 2 is applying, and its events are the
			// last ones.
			stage := h.stage(2)
			known := len(ids) == 0 && stage == iikanji.Applying && h.stage(1) == iikanji.Kept
			tail := how != "damaged" && i == len(lines)-1 || how == "cut" // no later event shows that lines are missing
			if !known && len(ids) == 0 && !tail {
				t.Errorf("line %d %s: stages %s and %s, nothing is uncertain", i+1, how, h.stage(1), stage)
			}
			if how == "cut" && i == 0 && fmt.Sprint(ids) != "[1 2]" {
				t.Errorf("an empty journal: uncertain %v", ids)
			}
			if how != "cut" && !tail && len(h.Damages()) != 1 {
				t.Errorf("line %d %s: damage %v", i+1, how, h.Damages())
			}
			if len(h.Damages()) > 0 {
				if err := h.AddChange(&iikanji.Change{}, ""); err == nil {
					t.Errorf("line %d %s: a change was added", i+1, how)
				}
			}
			settles(t, h, dir, ids)
		}
	}
}

// settles gives each uncertain change a stage and settles the damage. After it,
// journal and folders agree, also for the next reader.
func settles(t *testing.T, h *History, dir string, ids []iikanji.ChangeID) {
	t.Helper()
	for _, id := range ids {
		if err := h.Restage(id, iikanji.Reverted, "found so"); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(h.Settle("examined"), h.Close()); err != nil {
		t.Fatal(err)
	}
	v, err := View(dir)
	if err != nil {
		t.Fatal(err)
	}
	left, err := v.Uncertain()
	if err != nil || len(left) > 0 || len(v.Damages()) > 0 {
		t.Errorf("settled, and still %v %v %v", left, v.Damages(), err)
	}
	for _, id := range ids {
		if v.stage(id) != iikanji.Reverted {
			t.Errorf("change %d is %s", id, v.stage(id))
		}
	}
	w, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Restage(1, iikanji.Reverted, "no need"); err == nil {
		t.Error("the stage of a certain change was set")
	}
	if err := w.AddChange(&iikanji.Change{}, ""); err != nil {
		t.Errorf("settled, and no change can be added: %v", err)
	}
}

// TestPrivate: nothing of a history is readable by others, whatever the umask,
// and an older history becomes so.
func TestPrivate(t *testing.T) {
	dir := halfHistory(t)
	for _, path := range []string{dir, filepath.Join(dir, changesDir), filepath.Join(dir, runsDir)} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, journalName), 0o644); err != nil {
		t.Fatal(err)
	}
	h, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	id, _, err := h.NewRun()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(h.SaveRun(&iikanji.Run{ID: id}), h.SaveFile(id, "x.json", nil), h.SaveLedger(1)); err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v", path, info.Mode())
		}
		n++
		return err
	})
	if err != nil || n < 10 {
		t.Errorf("%d entries, %v", n, err)
	}
}
