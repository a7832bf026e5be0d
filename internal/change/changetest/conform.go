// Package changetest holds every kind of change to the same promises, against
// real servers: a plan can be undone, undoing gives the old bytes back, and a
// kill -9 at any step ends in a known state.
//
// Steps, for each remedy of a Case:
//
//  1. plan, apply, plan again (nothing left to do), revert: the state is what it was;
//  2. the same in a child process that kills itself before or after its n-th
//     step, for every n until it survives; then recover here;
//  3. edit the ground between plan and apply, and between apply and revert:
//     both are refused and the edit stands.
package changetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/history"
)

// A Case is a kind on a site of its own.
type Case struct {
	// Dir is the folder of the prepared site, whose servers run in the test
	// process; in the child it is the parent's.
	Dir string
	// Open gives hands on the site in Dir, from any process.
	Open     func(dir string) *change.Site
	Policy   iikanji.Policy
	Remedies map[string]iikanji.Remedy // by a name for the test
	// State is everything that undoing must give back.
	State func() (string, error)
	// Serves says whether the site answers.
	Serves func() error
	// Disturb edits a place of the change by hand, and returns how to put it back.
	Disturb func(c *iikanji.Change) (calm func() error, err error)
}

// Variables by which the child knows what to do.
const (
	childDir    = "CHANGETEST_DIR"
	childStep   = "CHANGETEST_STEP"
	childRemedy = "CHANGETEST_REMEDY"
)

// ChildDir is the folder of the site when this process is the child that is
// killed, and "" in the test itself: a test opens that folder then, instead of
// preparing one and starting servers.
func ChildDir() string { return os.Getenv(childDir) }

// Run holds the case to the promises. The test that calls it is run again as
// the child, so it must get here by its name alone.
func Run(t *testing.T, c Case) {
	if ChildDir() != "" {
		c.child(t)
		return
	}
	for name, r := range c.Remedies {
		t.Run(name, func(t *testing.T) {
			c.roundTrip(t, r)
			c.moved(t, r)
			c.killed(t, strings.SplitN(t.Name(), "/", 2)[0], name)
		})
	}
}

func (c *Case) executor(t *testing.T, dir string) (*change.Executor, *history.History) {
	t.Helper()
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &change.Executor{Hands: c.Open(dir), Journal: h, Policy: c.Policy}, h
}

func (c *Case) state(t *testing.T) string {
	t.Helper()
	s, err := c.State()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (c *Case) plan(t *testing.T, h *history.History, r iikanji.Remedy) *iikanji.Change {
	t.Helper()
	ch, err := change.Plan(t.Context(), c.Open(c.Dir), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.AddChange(ch, change.Diff(ch)); err != nil {
		t.Fatal(err)
	}
	return ch
}

// roundTrip plans, applies and reverts.
func (c *Case) roundTrip(t *testing.T, r iikanji.Remedy) {
	x, h := c.executor(t, c.Dir)
	defer h.Close()
	before := c.state(t)
	ch := c.plan(t, h, r)
	if got := c.state(t); got != before {
		t.Fatalf("planning changed the state:\n%s", got)
	}
	if err := x.Apply(t.Context(), ch.ID); err != nil {
		t.Fatalf("%v\n%s", err, change.Diff(ch))
	}
	if c.state(t) == before {
		t.Error("applying changed nothing")
	}
	if err := c.Serves(); err != nil {
		t.Errorf("with the change: %v\n%s", err, change.Diff(ch))
	}
	if _, err := change.Plan(t.Context(), c.Open(c.Dir), r); !errors.Is(err, change.ErrNothing) {
		t.Errorf("planning it again: %v, want nothing to do", err)
	}
	if err := x.Revert(t.Context(), ch.ID, "test"); err != nil {
		t.Fatal(err)
	}
	if got := c.state(t); got != before {
		t.Errorf("after the undo\n%s\nwant\n%s", got, before)
	}
	if err := c.Serves(); err != nil {
		t.Errorf("after the undo: %v", err)
	}
	if err := x.Revert(t.Context(), ch.ID, "test"); err == nil {
		t.Error("it was undone twice")
	}
}

// moved edits the ground by hand, after the plan and after applying.
func (c *Case) moved(t *testing.T, r iikanji.Remedy) {
	x, h := c.executor(t, c.Dir)
	defer h.Close()
	before := c.state(t)
	ch := c.plan(t, h, r)
	c.refused(t, ch, "applied", func() error { return x.Apply(t.Context(), ch.ID) })
	if err := x.Apply(t.Context(), ch.ID); err != nil {
		t.Fatal(err)
	}
	c.refused(t, ch, "reverted", func() error { return x.Revert(t.Context(), ch.ID, "test") })
	if err := x.Revert(t.Context(), ch.ID, "test"); err != nil {
		t.Fatal(err)
	}
	if got := c.state(t); got != before {
		t.Errorf("after the undo\n%s\nwant\n%s", got, before)
	}
}

// refused wants an act on moved ground refused with a diff, and the edit to stand.
func (c *Case) refused(t *testing.T, ch *iikanji.Change, what string, act func() error) {
	t.Helper()
	calm, err := c.Disturb(ch)
	if err != nil {
		t.Fatal(err)
	}
	disturbed := c.state(t)
	var moved *change.MovedError
	if err := act(); !errors.As(err, &moved) || moved.Diff == "" {
		t.Errorf("%s on moved ground: %v", what, err)
	}
	if c.state(t) != disturbed {
		t.Errorf("being %s on moved ground overwrote the edit", what)
	}
	if err := calm(); err != nil {
		t.Fatal(err)
	}
}

// maxSteps bounds the steps of one apply and revert.
const maxSteps = 400

// killed applies and reverts in a child that kills itself at each step.
func (c *Case) killed(t *testing.T, test, remedy string) {
	before := c.state(t)
	stages := map[iikanji.Stage]int{}
	for step := 1; ; step++ {
		if step > maxSteps {
			t.Fatalf("the child is killed for ever")
		}
		survived := c.runChild(t, test, remedy, step)
		stage := c.recover(t, before, step)
		stages[stage]++
		if survived {
			if step < 6 {
				t.Errorf("the child had only %d steps: the test proves nothing", step)
			}
			break
		}
	}
	t.Logf("kills ended in %v", stages)
}

func (c *Case) runChild(t *testing.T, test, remedy string, step int) (survived bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+test+"$", "-test.timeout", "5m")
	cmd.Env = append(os.Environ(), childDir+"="+c.Dir, childStep+"="+strconv.Itoa(step), childRemedy+"="+remedy)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return true
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL:
		return false
	}
	t.Fatalf("step %d: the child ended by itself: %v\n%s", step, err, out)
	return false
}

// recover brings a killed child's site to a known state and checks it.
func (c *Case) recover(t *testing.T, before string, step int) iikanji.Stage {
	t.Helper()
	x, h := c.executor(t, c.Dir)
	defer h.Close()
	if _, err := x.Recover(t.Context()); err != nil {
		t.Fatalf("killed at step %d: %v", step, err)
	}
	changes, err := h.Changes()
	if err != nil || len(changes) == 0 {
		return iikanji.StageUnknown // killed before it was planned
	}
	last := changes[len(changes)-1]
	switch last.Stage {
	case iikanji.Planned, iikanji.Reverted:
	case iikanji.Applied:
		if c.state(t) == before {
			t.Errorf("killed at step %d: the journal says applied, the site is as before", step)
		}
		if err := c.Serves(); err != nil {
			t.Errorf("killed at step %d, applied: %v", step, err)
		}
		if err := x.Revert(t.Context(), last.ID, "test"); err != nil {
			t.Fatalf("killed at step %d: %v", step, err)
		}
	default:
		t.Fatalf("killed at step %d: the change is %s after recovering", step, last.Stage)
	}
	if got := c.state(t); got != before {
		t.Fatalf("killed at step %d: the state is\n%s\nwant\n%s", step, got, before)
	}
	if err := c.Serves(); err != nil {
		t.Errorf("killed at step %d: %v", step, err)
	}
	return last.Stage
}

// child plans, applies and reverts with hands and a journal that kill this
// process at the step it was given.
func (c *Case) child(t *testing.T) {
	left, err := strconv.Atoi(os.Getenv(childStep))
	if err != nil {
		t.Fatal(err)
	}
	r, ok := c.Remedies[os.Getenv(childRemedy)]
	if !ok {
		t.Fatalf("no remedy %q", os.Getenv(childRemedy))
	}
	dir := ChildDir()
	h, err := history.Open(filepath.Join(dir, "history"))
	if err != nil {
		t.Fatal(err)
	}
	d := &deadly{left: left}
	site := c.Open(dir)
	x := &change.Executor{Hands: deadlyHands{site, d}, Journal: deadlyJournal{h, d}, Policy: c.Policy}
	ch, err := change.Plan(t.Context(), site, r)
	if err != nil {
		t.Fatal(err)
	}
	d.step()
	if err := h.AddChange(ch, change.Diff(ch)); err != nil {
		t.Fatal(err)
	}
	d.step()
	if err := x.Apply(t.Context(), ch.ID); err != nil {
		t.Fatal(err)
	}
	if err := x.Revert(t.Context(), ch.ID, "test"); err != nil {
		t.Fatal(err)
	}
}

// A deadly counts steps and kills this process at the last one.
type deadly struct{ left int }

func (d *deadly) step() {
	if d.left--; d.left == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute) // the signal is on its way
		panic(fmt.Sprintf("BUG: still alive at step %d", d.left))
	}
}

type deadlyHands struct {
	change.Hands
	*deadly
}

func (h deadlyHands) Perform(ctx context.Context, op iikanji.Op) error {
	h.step()
	err := h.Hands.Perform(ctx, op)
	h.step()
	return err
}

type deadlyJournal struct {
	*history.History
	*deadly
}

func (j deadlyJournal) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	j.step()
	err := j.History.MoveChange(id, to, why)
	j.step()
	return err
}

func (j deadlyJournal) Append(e history.Event) error {
	j.step()
	err := j.History.Append(e)
	j.step()
	return err
}
