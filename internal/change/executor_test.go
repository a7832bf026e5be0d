package change

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
)

// A rig is an executor on a folder with one service, whose reload can fail.
type rig struct {
	*Executor
	h       *history.History
	site    *Site
	dir     string
	reloads int
	broken  func(reload int) error
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{dir: filepath.Join(t.TempDir(), "etc")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	reload := func(context.Context) error {
		if r.reloads++; r.broken != nil {
			return r.broken(r.reloads)
		}
		return nil
	}
	r.h, r.site = h, &Site{Roots: []string{r.dir}, Services: map[string]Service{"web": {Running: acting{reload: reload}}}}
	r.Executor = &Executor{Hands: r.site, Journal: h}
	return r
}

func (r *rig) path(name string) string { return filepath.Join(r.dir, name) }

func (r *rig) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(r.path(name), []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// files is the folder's content, for comparing.
func (r *rig) files(t *testing.T) string {
	t.Helper()
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		text, err := os.ReadFile(r.path(e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %v %q\n", e.Name(), info.Mode(), text)
	}
	return b.String()
}

// plan makes a change of a.conf (there) and b.conf (new).
func (r *rig) plan(t *testing.T) *iikanji.Change {
	t.Helper()
	c := &iikanji.Change{Kind: "test", Target: "web", Says: "test"}
	a, err := r.site.ReadOld("", r.path("a.conf"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.site.ReadOld("", r.path("b.conf"))
	if err != nil {
		t.Fatal(err)
	}
	FromEdits(c, iikanji.Reload, Edit{Path: r.path("a.conf"), Old: a, New: append(slices.Clone(a), "more\n"...)}, Edit{Path: r.path("b.conf"), Old: b, New: []byte{}})
	if err := Check(c); err != nil {
		t.Fatal(err)
	}
	if err := r.h.AddChange(c, Diff(c)); err != nil {
		t.Fatal(err)
	}
	return c
}

func (r *rig) stage(t *testing.T, id iikanji.ChangeID) iikanji.Stage {
	t.Helper()
	c, err := r.h.LoadChange(id)
	if err != nil {
		t.Fatal(err)
	}
	return c.Stage
}

func TestApplyKeepRevert(t *testing.T) {
	r := newRig(t)
	r.write(t, "a.conf", "old\n")
	before := r.files(t)
	c := r.plan(t)
	if err := r.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	if got := r.files(t); got != "a.conf -rw-r----- \"old\\nmore\\n\"\nb.conf -rw-r--r-- \"\"\n" || r.reloads != 1 {
		t.Errorf("%d reloads, files\n%s", r.reloads, got)
	}
	if err := r.Apply(t.Context(), c.ID); err == nil {
		t.Error("applied twice")
	}
	if err := r.Keep(c.ID, "proven"); err != nil || r.stage(t, c.ID) != iikanji.Kept {
		t.Errorf("%v, stage %v", err, r.stage(t, c.ID))
	}
	second := r.plan(t)
	if err := r.Apply(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	// The first change cannot be reverted while the second is built on it. RevertAll
	// reverts both, the latest first.
	var moved *MovedError
	if err := r.Revert(t.Context(), c.ID, ""); !errors.As(err, &moved) || !strings.Contains(moved.Diff, "+more") {
		t.Errorf("reverted from under another: %v", err)
	}
	ids, err := r.RevertAll(t.Context(), "all")
	if err != nil || !slices.Equal(ids, []iikanji.ChangeID{second.ID, c.ID}) {
		t.Errorf("reverted %v, %v", ids, err)
	}
	if got := r.files(t); got != before {
		t.Errorf("after the undo\n%s\nwant\n%s", got, before)
	}
}

// TestFailingApply: an op that fails, and a cancelled context, are undone at once.
func TestFailingApply(t *testing.T) {
	for name, fail := range map[string]func(r *rig, cancel func()){
		"reload fails": func(r *rig, _ func()) {
			r.broken = func(n int) error {
				if n == 1 {
					return errors.New("syntax error")
				}
				return nil
			}
		},
		"cancelled": func(r *rig, cancel func()) {
			r.broken = func(n int) error {
				if cancel(); n == 1 {
					return context.Canceled
				}
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write(t, "a.conf", "old\n")
			before := r.files(t)
			c := r.plan(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			fail(r, cancel)
			if err := r.Apply(ctx, c.ID); err == nil {
				t.Fatal("no error")
			}
			if r.files(t) != before || r.stage(t, c.ID) != iikanji.Reverted {
				t.Errorf("stage %v, files\n%s", r.stage(t, c.ID), r.files(t))
			}
		})
	}
}

// TestCancelledUndo: an undo that has begun, by a revert or a recovery, goes on to
// its end after Ctrl-C; the undo of the next change is not begun.
func TestCancelledUndo(t *testing.T) {
	for name, undo := range map[string]func(ctx context.Context, r *rig) error{
		"revert": func(ctx context.Context, r *rig) error {
			_, err := r.RevertAll(ctx, "by hand")
			return err
		},
		"recover": func(ctx context.Context, r *rig) error {
			for id := range iikanji.ChangeID(2) { // as a kill leaves them
				if err := r.h.MoveChange(id+1, iikanji.Reverting, ""); err != nil {
					return err
				}
			}
			_, err := r.Recover(ctx)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.write(t, "a.conf", "old\n")
			first := r.plan(t)
			if err := r.Apply(t.Context(), first.ID); err != nil {
				t.Fatal(err)
			}
			between := r.files(t)
			second := r.plan(t)
			if err := r.Apply(t.Context(), second.ID); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			r.site.Services["web"] = Service{Running: acting{reload: func(ctx context.Context) error { // as one that waits for an answer
				cancel()
				return ctx.Err()
			}}}
			if err := undo(ctx, r); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if stage := r.stage(t, second.ID); stage != iikanji.Reverted || r.files(t) != between {
				t.Errorf("the change that was being undone is %v, files\n%s\nwant\n%s", stage, r.files(t), between)
			}
			if stage := r.stage(t, first.ID); !stage.May(iikanji.Reverting) && stage != iikanji.Reverting {
				t.Errorf("the other one is %v", stage)
			}
		})
	}
}

// bounds are hands that note how each op of an undo is bounded in time.
type bounds struct {
	Hands
	by map[iikanji.Verb]bool
}

func (b bounds) State(ctx context.Context, op iikanji.Op) (iikanji.Fingerprint, error) {
	if op.Verb == iikanji.SQL {
		return op.Expect, nil // the table is as the change left it
	}
	return b.Hands.State(ctx, op)
}

func (b bounds) Perform(ctx context.Context, op iikanji.Op) error {
	_, b.by[op.Verb] = ctx.Deadline()
	if op.Verb == iikanji.SQL {
		return nil
	}
	return b.Hands.Perform(ctx, op)
}

// TestUndoTime: an undo goes on when its caller is cancelled, so each op that could
// hang has a time limit. A statement has none: its time depends on the table's size.
func TestUndoTime(t *testing.T) {
	r := newRig(t)
	r.write(t, "a.conf", "old\n")
	c := r.plan(t)
	c.ID = 0
	c.Do = append(c.Do, iikanji.Op{Verb: iikanji.SQL, Place: "db/s.t", Body: "ALTER TABLE", Expect: "without"})
	c.Undo = append([]iikanji.Op{{Verb: iikanji.SQL, Place: "db/s.t", Body: "ALTER TABLE", Expect: "with"}}, c.Undo...)
	if err := r.h.AddChange(c, ""); err != nil {
		t.Fatal(err)
	}
	b := bounds{r.site, map[iikanji.Verb]bool{}}
	r.Hands = b
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	if err := r.Apply(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	clear(b.by)
	_ = r.Revert(ctx, c.ID, "by hand") // the table does not prove to be as it was
	if want := map[iikanji.Verb]bool{iikanji.SQL: false, iikanji.Write: true, iikanji.Remove: true, iikanji.Reload: true}; !maps.Equal(b.by, want) {
		t.Errorf("bounded are %v, want %v", b.by, want)
	}
}

// TestStuck: a change that cannot be undone is stuck, and its undo can be tried again.
func TestStuck(t *testing.T) {
	r := newRig(t)
	r.write(t, "a.conf", "old\n")
	before := r.files(t)
	c := r.plan(t)
	r.broken = func(int) error { return errors.New("dead") }
	if err := r.Apply(t.Context(), c.ID); err == nil || !strings.Contains(err.Error(), "undoing change 1") {
		t.Errorf("got %v", err)
	}
	if r.stage(t, c.ID) != iikanji.Stuck {
		t.Errorf("stage %v", r.stage(t, c.ID))
	}
	r.broken = nil
	if err := r.Revert(t.Context(), c.ID, "again"); err != nil || r.files(t) != before {
		t.Errorf("%v, files\n%s", err, r.files(t))
	}
}

// TestRecoverStuck: recovering does not overwrite edits made after
// the crash.
func TestRecoverStuck(t *testing.T) {
	r := newRig(t)
	r.write(t, "a.conf", "old\n")
	c := r.plan(t)
	if err := r.h.MoveChange(c.ID, iikanji.Applying, ""); err != nil {
		t.Fatal(err)
	}
	r.write(t, "a.conf", "by hand\n")
	var moved *MovedError
	if ids, err := r.Recover(t.Context()); !errors.As(err, &moved) || len(ids) > 0 {
		t.Errorf("recovered %v, %v", ids, err)
	}
	if r.stage(t, c.ID) != iikanji.Stuck || !strings.Contains(r.files(t), "by hand") {
		t.Errorf("stage %v, files\n%s", r.stage(t, c.ID), r.files(t))
	}
}

func TestPolicy(t *testing.T) {
	r := newRig(t)
	r.write(t, "a.conf", "old\n")
	c := r.plan(t)
	before := r.files(t)
	weak := *c
	weak.Weakens = []iikanji.Promise{iikanji.Durability}
	if err := r.h.AddChange(&weak, ""); err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(t.Context(), weak.ID); err == nil || !strings.Contains(err.Error(), "durability") || r.files(t) != before {
		t.Errorf("got %v", err)
	}
	r.Policy.Allow = []iikanji.Promise{iikanji.Durability}
	if err := r.Apply(t.Context(), weak.ID); err != nil {
		t.Error(err)
	}
}

// TestCheck: a plan whose undo does not restore the state is refused.
func TestCheck(t *testing.T) {
	good := func() *iikanji.Change {
		c := &iikanji.Change{Kind: "k", Target: "t", Says: "s"}
		FromEdits(c, iikanji.Reload, Edit{Path: "/a", Old: []byte("1"), New: []byte("2")}, Edit{Path: "/b", Old: nil, New: []byte("3")})
		return c
	}
	if err := Check(good()); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*iikanji.Change){
		"other bytes":      func(c *iikanji.Change) { c.Undo[1].Body += " " },
		"undo left out":    func(c *iikanji.Change) { c.Undo = c.Undo[1:] },
		"wrong ground":     func(c *iikanji.Change) { c.Do[0].Expect = Absent },
		"no expectation":   func(c *iikanji.Change) { c.Do[0].Expect = "" },
		"twice":            func(c *iikanji.Change) { c.Do = append(c.Do, c.Do[0]) },
		"no place":         func(c *iikanji.Change) { c.Do[2].Place = "" },
		"what has no undo": func(c *iikanji.Change) { c.Do[2].Verb = iikanji.VerbUnknown },
		"nothing":          func(c *iikanji.Change) { c.Do = nil },
		"no sentence":      func(c *iikanji.Change) { c.Says = "" },
	} {
		c := good()
		if spoil(c); Check(c) == nil {
			t.Errorf("%s: passed", name)
		}
	}
}

// TestConfine: an op reaches no file outside of the roots, not even through a link.
func TestConfine(t *testing.T) {
	r := newRig(t)
	outside := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(outside, []byte("root"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, r.path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(outside), r.path("folder")); err != nil {
		t.Fatal(err)
	}
	for _, place := range []string{outside, r.path("link"), r.path("folder/new"), r.path("../x"), "a.conf", r.path(""), r.dir + "x/y"} {
		for _, verb := range []iikanji.Verb{iikanji.Write, iikanji.Remove} {
			if err := r.site.Perform(t.Context(), iikanji.Op{Verb: verb, Place: place, Body: "x"}); err == nil {
				t.Errorf("%v %s was performed", verb, place)
			}
		}
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "root" {
		t.Errorf("%q %v", b, err)
	}
	for _, op := range []iikanji.Op{{Verb: iikanji.VerbUnknown, Place: "sh"}, {Verb: iikanji.Reload, Place: "nothing"}, {Verb: iikanji.Restart, Place: "web"}} {
		if err := r.site.Perform(t.Context(), op); err == nil {
			t.Errorf("%v %s was performed", op.Verb, op.Place)
		}
	}
}
