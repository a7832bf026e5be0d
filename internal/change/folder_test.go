package change

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/iikanji/iikanji"
)

// dying performs a number of ops and then nothing, as a process that is killed.
type dying struct {
	*Site
	left int
}

var errDead = errors.New("dead")

func (d *dying) Perform(ctx context.Context, op iikanji.Op) error {
	if d.left--; d.left < 0 {
		return errDead
	}
	return d.Site.Perform(ctx, op)
}

// planFolder makes a change of a.conf and of two files in a folder that does not
// exist.
func (r *rig) planFolder(t *testing.T) *iikanji.Change {
	t.Helper()
	c := &iikanji.Change{Kind: "test", Target: "web", Says: "test"}
	edits := []Edit{{Path: r.path("a.conf"), Old: []byte("old\n"), New: []byte("new\n")}}
	for _, name := range []string{"new/x", "new/y"} {
		edits = append(edits, Edit{Path: r.path(name), New: []byte(name), Folder: true})
	}
	FromEdits(c, iikanji.Reload, edits...)
	if err := errors.Join(Check(c), r.site.replaceable(c), r.h.AddChange(c, Diff(c))); err != nil {
		t.Fatal(err)
	}
	return c
}

// entries counts what is in the folder.
func (r *rig) entries(t *testing.T) (n int) {
	t.Helper()
	if err := filepath.WalkDir(r.dir, func(string, fs.DirEntry, error) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestFolder: a change with a folder of its own leaves nothing of it, after an undo
// and after a death at any op, also between the folder and its first file. A file that
// a user put there stays.
func TestFolder(t *testing.T) {
	for n := range 9 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			r := newRig(t)
			r.write(t, "a.conf", "old\n")
			c, before, entries := r.planFolder(t), r.files(t), r.entries(t)
			r.Hands = &dying{r.site, n}
			err := r.Apply(t.Context(), c.ID)
			if n < 4 && err == nil || n >= 4 && err != nil {
				t.Fatalf("applied after %d ops: %v", n, err)
			}
			if err == nil {
				if b, err := os.ReadFile(r.path("new/y")); err != nil || string(b) != "new/y" {
					t.Fatalf("%q, %v", b, err)
				}
				err = r.Revert(t.Context(), c.ID, "a test")
				if n < 8 && err == nil {
					t.Fatalf("undone after %d ops", n)
				}
			} else if n == 1 { // killed in the middle of an op
				if err := os.Mkdir(r.path("new"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			r.Hands = r.site
			if _, err := r.Recover(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := r.stage(t, c.ID); got != iikanji.Reverted || r.files(t) != before || r.entries(t) != entries {
				t.Errorf("%s, %d entries, want %d\n%s\nwant\n%s", got, r.entries(t), entries, r.files(t), before)
			}
		})
	}
	r := newRig(t)
	r.write(t, "a.conf", "old\n")
	c := r.planFolder(t)
	if err := r.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	r.write(t, "new/mine", "mine")
	if err := r.Revert(t.Context(), c.ID, "a test"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(r.path("new/mine")); err != nil || string(b) != "mine" || r.entries(t) != 4 {
		t.Errorf("%q, %v, %d entries", b, err, r.entries(t))
	}
}
