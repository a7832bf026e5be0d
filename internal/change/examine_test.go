package change

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/host"
)

func relations(ps []PlaceState) string {
	var out []string
	for _, p := range ps {
		out = append(out, string(p.Relation))
	}
	return strings.Join(out, " ")
}

// TestExamine performs a change op by op. After each op, every place is shown as it
// is, and both undoing and completing the change lead to a known state.
func TestExamine(t *testing.T) {
	for done := 0; done <= 2; done++ {
		for _, way := range []string{"undo", "complete"} {
			r := newRig(t)
			r.write(t, "a.conf", "old\n")
			before := r.files(t)
			c := r.plan(t)
			if err := r.h.MoveChange(c.ID, iikanji.Applying, ""); err != nil {
				t.Fatal(err)
			}
			for _, op := range c.Do[:done] {
				if err := r.site.Perform(t.Context(), op); err != nil {
					t.Fatal(err)
				}
			}
			want := []string{"before before", "after before", "after after"}[done]
			places := Examine(t.Context(), r.site, c)
			if got := relations(places); got != want {
				t.Errorf("%d ops are done: %s, want %s", done, got, want)
			}
			all := []*iikanji.Change{c}
			if Explained(c, places, all, nil) != (done == 0) || Explained(c, places, all, all) != (done == 2) {
				t.Errorf("%d ops are done: explained as undone %v, as applied %v", done, Explained(c, places, all, nil), Explained(c, places, all, all))
			}
			if way == "undo" {
				if _, err := r.Recover(t.Context()); err != nil || r.files(t) != before {
					t.Errorf("undone from %s: %v\n%s", want, err, r.files(t))
				}
				continue
			}
			if err := r.Complete(t.Context(), c.ID, "test"); err != nil || r.stage(t, c.ID) != iikanji.Kept || relations(Examine(t.Context(), r.site, c)) != "after after" {
				t.Errorf("completed from %s: %v, %s", want, err, r.files(t))
			}
			if err := r.Revert(t.Context(), c.ID, "test"); err != nil || r.files(t) != before {
				t.Errorf("reverted: %v\n%s", err, r.files(t))
			}
		}
	}
}

// TestExamineForeign: a place that was edited since is AsNeither, and neither undoing
// nor completing the change writes to it.
func TestExamineForeign(t *testing.T) {
	r := newRig(t)
	r.write(t, "a.conf", "old\n")
	c := r.plan(t)
	if err := r.h.MoveChange(c.ID, iikanji.Applying, ""); err != nil {
		t.Fatal(err)
	}
	r.write(t, "a.conf", "edited\n")
	edited := r.files(t)
	if got := relations(Examine(t.Context(), r.site, c)); got != "neither before" {
		t.Error(got)
	}
	var moved *MovedError
	if err := r.Complete(t.Context(), c.ID, "test"); !errors.As(err, &moved) || r.files(t) != edited {
		t.Errorf("completed: %v\n%s", err, r.files(t))
	}
	if _, err := r.Recover(t.Context()); !errors.As(err, &moved) || r.files(t) != edited || r.stage(t, c.ID) != iikanji.Stuck {
		t.Errorf("recovered: %v\n%s", err, r.files(t))
	}
	r.write(t, "a.conf", "old\n")
	if ids, err := r.Recover(t.Context()); err != nil || !slices.Equal(ids, []iikanji.ChangeID{c.ID}) || r.stage(t, c.ID) != iikanji.Reverted {
		t.Errorf("a stuck change whose cause is gone: %v %v, %s", ids, err, r.stage(t, c.ID))
	}
}

// TestDeadServiceUndo: an undo does not need the reload of a service that has
// ended: it is started instead.
func TestDeadServiceUndo(t *testing.T) {
	r := newRig(t)
	r.write(t, "a.conf", "old\n")
	before := r.files(t)
	c := r.plan(t)
	if err := r.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	r.broken = func(int) error { return errors.New("it does not run") }
	restarts := 0
	r.site.Services["web"] = Service{Running: acting{reload: r.site.Services["web"].Running.Reload,
		restart: func(context.Context) error { restarts++; return nil }}}
	if err := r.Revert(t.Context(), c.ID, "test"); err != nil || restarts != 1 || r.files(t) != before {
		t.Errorf("%v, %d restarts\n%s", err, restarts, r.files(t))
	}
}

// TestFullDisk fails each write of a change with each error of a disk: applying
// ends in the old state or in a stuck change, and Recover ends both once the
// disk has space again.
func TestFullDisk(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.EDQUOT} {
		for from := 1; ; from++ {
			for _, lasting := range []bool{false, true} { // the fault stays, also for the undo
				f := newFaulty(t, errno, from, lasting)
				before := f.files(t)
				err := f.Apply(t.Context(), f.c.ID)
				if f.writes < from {
					if err != nil {
						t.Fatal(err)
					}
					if from < 3 {
						t.Fatalf("only %d writes: the test proves nothing", f.writes)
					}
					goto next
				}
				if err == nil || !errors.Is(err, errno) {
					t.Fatalf("%v at write %d: %v", errno, from, err)
				}
				stage := f.stage(t, f.c.ID)
				if stage != iikanji.Reverted && stage != iikanji.Stuck || stage == iikanji.Stuck && !lasting {
					t.Errorf("%v at write %d, lasting %v: %s", errno, from, lasting, stage)
				}
				f.fake.Fail = nil
				if _, err := f.Recover(t.Context()); err != nil || f.files(t) != before || f.stage(t, f.c.ID) != iikanji.Reverted {
					t.Errorf("%v at write %d, lasting %v: recovered %v, %s\n%s", errno, from, lasting, err, f.stage(t, f.c.ID), f.files(t))
				}
			}
		}
	next:
	}
}

// A faulty is a rig on a fake host whose writes fail from one on.
type faulty struct {
	*rig
	fake   *host.Fake
	c      *iikanji.Change
	writes int
}

func newFaulty(t *testing.T, errno syscall.Errno, from int, lasting bool) *faulty {
	t.Helper()
	f := &faulty{rig: newRig(t)}
	f.write(t, "a.conf", "old\n")
	f.fake = &host.Fake{Root: filepath.Dir(f.dir)}
	f.site.Hosts, f.site.Roots = map[string]host.Host{"": f.fake}, []string{"/etc"}
	f.c = &iikanji.Change{Kind: "test", Target: "web", Says: "test"}
	FromEdits(f.c, iikanji.Reload, Edit{Path: "/etc/a.conf", Old: []byte("old\n"), New: []byte("new\n")}, Edit{Path: "/etc/b.conf", New: []byte("b\n")})
	if err := f.h.AddChange(f.c, ""); err != nil {
		t.Fatal(err)
	}
	f.fake.Fail = func(operation, _ string) error {
		if operation != "write" && operation != "remove" {
			return nil
		}
		if f.writes++; f.writes == from || lasting && f.writes > from {
			return errno
		}
		return nil
	}
	return f
}

// TestFullDiskForJournal: when the journal cannot be written, no op is performed
// that it does not contain.
func TestFullDiskForJournal(t *testing.T) {
	for from := 1; from < 30; from++ {
		r := newRig(t)
		r.write(t, "a.conf", "old\n")
		before := r.files(t)
		c := r.plan(t)
		j := &fullJournal{History: r.h, from: from}
		r.Journal = j
		err := r.Apply(t.Context(), c.ID)
		r.Journal = r.h
		if err == nil {
			if from < 6 {
				t.Fatalf("the journal had only %d writes", j.writes)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		_, err = r.Recover(t.Context())
		if stage := r.stage(t, c.ID); err != nil || r.files(t) != before || stage != iikanji.Reverted && stage != iikanji.Planned {
			t.Errorf("write %d: %v, %s\n%s", from, err, stage, r.files(t))
		}
	}
	t.Error("the journal never took the change")
}

// A fullJournal cannot store event number from and all later ones.
type fullJournal struct {
	*history.History
	from, writes int
}

func (j *fullJournal) full() error {
	if j.writes++; j.writes >= j.from {
		return fmt.Errorf("writing the journal: %w", syscall.ENOSPC)
	}
	return nil
}

func (j *fullJournal) Append(e history.Event) error {
	if err := j.full(); err != nil {
		return err
	}
	return j.History.Append(e)
}

func (j *fullJournal) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	if err := j.full(); err != nil {
		return err
	}
	return j.History.MoveChange(id, to, why)
}

// TestClockBack: the order of changes follows the journal, not the clock, so that
// a clock that is set back changes no undo.
func TestClockBack(t *testing.T) {
	r := newRig(t)
	r.write(t, "a.conf", "old\n")
	before := r.files(t)
	for range 2 {
		c := r.plan(t)
		if err := errors.Join(r.Apply(t.Context(), c.ID), r.Keep(c.ID, "")); err != nil {
			t.Fatal(err)
		}
	}
	dir := r.h.Dir()
	if err := r.h.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "journal.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines { // each event a day before the one ahead of it
		if at := strings.Index(line, `"at":"`); at >= 0 {
			lines[i] = line[:at+6] + fmt.Sprintf("2026-01-%02dT00:00:00Z", 31-i) + line[strings.Index(line[at+6:], `"`)+at+6:]
		}
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := history.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if len(h.Damages()) > 0 {
		t.Fatalf("%v", h.Damages())
	}
	r.Journal, r.h = h, h
	if ids, err := r.RevertAll(t.Context(), "all"); err != nil || len(ids) != 2 || r.files(t) != before {
		t.Errorf("%v %v\n%s", ids, err, r.files(t))
	}
}
