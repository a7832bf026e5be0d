package changetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
)

// Environment variables with the child's task.
const (
	childDir    = "CHANGETEST_DIR"
	childStep   = "CHANGETEST_STEP"
	childRemedy = "CHANGETEST_REMEDY"
)

// ChildDir returns the folder of the site if this process is the child that is
// killed, "" in the test itself. In the child, a test opens that folder instead
// of preparing a site and starting servers.
func ChildDir() string { return os.Getenv(childDir) }

// maxSteps bounds the steps of one plan, apply and revert.
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
		stage := c.recover(t, remedy, before, step)
		stages[stage]++
		if survived {
			if step < 6 {
				t.Errorf("the child had only %d steps: the test proves nothing", step)
			}
			break
		}
	}
	if stages[iikanji.Applied] == 0 || stages[iikanji.Reverted] == 0 {
		t.Errorf("no kill ended with the change applied, or none with it undone: %v", stages)
	}
	t.Logf("kills ended in %v", stages)
}

func (c *Case) runChild(t *testing.T, test, remedy string, step int) (survived bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run", "^"+test+"$", "-test.timeout", "5m")
	cmd.Env = append(os.Environ(), childDir+"="+c.Dir, childStep+"="+strconv.Itoa(step), childRemedy+"="+remedy,
		"GORACE=atexit_sleep_ms=0 "+os.Getenv("GORACE")) // otherwise the race detector waits a second at the end
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
func (c *Case) recover(t *testing.T, remedy, before string, step int) iikanji.Stage {
	t.Helper()
	x, h := c.executor(t, remedy)
	defer h.Close()
	_, err := x.Recover(t.Context())
	if err = errors.Join(err, c.Open(c.Dir).Sweep()); err != nil {
		t.Fatalf("killed at step %d: %v", step, err)
	}
	var stage iikanji.Stage // zero value: nothing was planned yet
	events := slices.DeleteFunc(h.Events(), func(e history.Event) bool { return e.What != history.ChangeMade })
	if len(events) > 0 {
		last, err := h.LoadChange(events[len(events)-1].Change)
		if err != nil {
			t.Fatal(err)
		}
		stage = last.Stage
		if stage == iikanji.Applied {
			c.goesOn(t, x, last, before, step)
		}
	}
	switch stage {
	case iikanji.StageUnknown, iikanji.Planned, iikanji.Applied, iikanji.Reverted:
	default:
		t.Fatalf("killed at step %d: the change is %s after recovering", step, stage)
	}
	if got := c.state(t); got != before {
		t.Fatalf("killed at step %d: the state is\n%s\nwant\n%s", step, got, before)
	}
	if err := c.Serves(); err != nil {
		t.Errorf("killed at step %d: %v", step, err)
	}
	return stage
}

// goesOn checks that a change that was applied before the kill is in force, and
// reverts it.
func (c *Case) goesOn(t *testing.T, x *change.Executor, ch *iikanji.Change, before string, step int) {
	t.Helper()
	if c.state(t) == before {
		t.Errorf("killed at step %d: the journal says applied, the site is as before", step)
	}
	if err := c.Serves(); err != nil {
		t.Errorf("killed at step %d, applied: %v", step, err)
	}
	if err := x.Revert(t.Context(), ch.ID, "test"); err != nil {
		t.Fatalf("killed at step %d: %v", step, err)
	}
}

// child plans, applies and reverts, with a site and a journal that kill this
// process at the given step.
//
// A step precedes each operation whose effect outlives the process, and follows
// the last one: between two steps there are otherwise only reads.
func (c *Case) child(t *testing.T) {
	left, err := strconv.Atoi(os.Getenv(childStep))
	if err != nil {
		t.Fatal(err)
	}
	name := os.Getenv(childRemedy)
	r, ok := c.Remedies[name]
	if !ok {
		t.Fatalf("no remedy %q", name)
	}
	h, err := c.history(name)
	if err != nil {
		t.Fatal(err)
	}
	d := &deadly{left: left}
	site := c.Open(c.Dir)
	d.judging(site)
	x := &change.Executor{Hands: deadlyHands{site, d}, Journal: deadlyJournal{h, d}, Policy: c.Policy}
	ch, err := change.Plan(t.Context(), site, r)
	if err != nil {
		t.Fatal(err)
	}
	d.step()
	if err := h.AddChange(ch, change.Diff(ch)); err != nil {
		t.Fatal(err)
	}
	if err := x.Apply(t.Context(), ch.ID); err != nil {
		t.Fatal(err)
	}
	if err := x.Revert(t.Context(), ch.ID, "test"); err != nil {
		t.Fatal(err)
	}
	d.step()
}

// A deadly counts steps and kills this process at the last one.
type deadly struct{ left int }

func (d *deadly) step() {
	if d.left--; d.left == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		time.Sleep(time.Minute) // until the signal arrives
		panic(fmt.Sprintf("BUG: still alive at step %d", d.left))
	}
}

// judging adds a step to the checks of a plan: the scratch copy exists at that time.
func (d *deadly) judging(s *change.Site) {
	for name, svc := range s.Services {
		if svc.Running != nil {
			svc.Running = deadlyRunning{svc.Running, d}
			s.Services[name] = svc
		}
	}
}

type deadlyRunning struct {
	change.Running
	*deadly
}

func (r deadlyRunning) CheckConfig(ctx context.Context, path string) error {
	r.step()
	return r.Running.CheckConfig(ctx, path)
}

func (r deadlyRunning) Build(ctx context.Context, dir string) error {
	r.step()
	return r.Running.Build(ctx, dir)
}

type deadlyHands struct {
	change.Hands
	*deadly
}

func (h deadlyHands) Perform(ctx context.Context, op iikanji.Op) error {
	h.step()
	return h.Hands.Perform(ctx, op)
}

type deadlyJournal struct {
	*history.History
	*deadly
}

func (j deadlyJournal) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	j.step()
	return j.History.MoveChange(id, to, why)
}

func (j deadlyJournal) Append(e history.Event) error {
	j.step()
	return j.History.Append(e)
}
