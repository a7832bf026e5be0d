// Package changetest checks the promises of every kind of change, with real
// servers: a plan can be undone, undoing restores the old bytes, and a kill -9 at
// any step ends in a known state.
//
// Steps, for each remedy of a Case:
//
//  1. plan (redaction leaves the diff as it is), apply, plan again (nothing to change),
//     revert: the state is the old one;
//  2. edit each place of the change between plan and apply, and between apply and
//     revert: both are refused with a diff, and the edit is kept;
//  3. step 1 in a child process that kills itself at its n-th step, for every n
//     until it survives; then recover in the parent (kill.go). make check does this for
//     one remedy of a Case, make soak for all.
//
// app.go has a program for kinds that change one.
package changetest

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/show/redact"
)

// A Case is a kind with a site of its own.
type Case struct {
	// Dir is the folder of the prepared site, whose servers run in the test
	// process. In the child it is the parent's.
	Dir string
	// Open returns the site in Dir; it works in every process.
	Open     func(dir string) *change.Site
	Policy   iikanji.Policy
	Remedies map[string]iikanji.Remedy // by a name for the test
	// Effects are texts that State contains with a remedy applied, and does not
	// contain without it. A remedy without an entry must change State in some
	// way.
	Effects map[string]string
	// State returns all that an undo must restore: the files, and the state of
	// the servers.
	State func() (string, error)
	// Serves checks that the site answers.
	Serves func() error
	// Secrets are the remedies whose diff has a secret or rows of a table.
	Secrets []string
	// Disturb edits the place of an op by hand, and returns a function that
	// restores it: nil for a place that it cannot edit. The default is ByHand.
	Disturb func(op iikanji.Op) (calm func() error, err error)
}

// Run checks the promises for the case. The calling test runs again as the
// child, so its name alone must lead here. The child is killed at each step with one
// remedy; with the others, too, in make soak.
func Run(t *testing.T, c Case) {
	if ChildDir() != "" {
		c.child(t)
		return
	}
	for name := range c.Effects {
		if _, ok := c.Remedies[name]; !ok {
			t.Errorf("an effect of %q, which is not at a remedy", name)
		}
	}
	for i, name := range slices.Sorted(maps.Keys(c.Remedies)) {
		t.Run(name, func(t *testing.T) {
			c.roundTrip(t, name)
			c.moved(t, name)
			if i == 0 || tier.Soaking() {
				c.killed(t, strings.SplitN(t.Name(), "/", 2)[0], name)
			}
		})
	}
}

func (c *Case) executor(t *testing.T, remedy string) (*change.Executor, *history.History) {
	t.Helper()
	h, err := c.history(remedy)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &change.Executor{Hands: c.Open(c.Dir), Journal: h, Policy: c.Policy}, h
}

// history opens a history for one remedy: recovering reads the whole history
// each time.
func (c *Case) history(remedy string) (*history.History, error) {
	return history.Open(filepath.Join(c.Dir, "history of "+remedy))
}

func (c *Case) state(t *testing.T) string {
	t.Helper()
	s, err := c.State()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (c *Case) plan(t *testing.T, h *history.History, remedy string) *iikanji.Change {
	t.Helper()
	ch, err := change.Plan(t.Context(), c.Open(c.Dir), c.Remedies[remedy])
	if err != nil {
		t.Fatal(err)
	}
	diff := change.Diff(ch)
	if err := h.AddChange(ch, diff); err != nil {
		t.Fatal(err)
	}
	shown := diff
	if redact.Document(&shown); (shown != diff) != slices.Contains(c.Secrets, remedy) {
		t.Errorf("the diff of %q is\n%s\nredacted it is\n%s", remedy, diff, shown)
	}
	return ch
}

// roundTrip plans, applies and reverts.
func (c *Case) roundTrip(t *testing.T, remedy string) {
	r, effect := c.Remedies[remedy], c.Effects[remedy]
	x, h := c.executor(t, remedy)
	defer h.Close()
	before := c.state(t)
	ch := c.plan(t, h, remedy)
	if got := c.state(t); got != before {
		t.Fatalf("planning changed the state:\n%s", got)
	}
	if err := x.Apply(t.Context(), ch.ID); err != nil {
		t.Fatalf("%v\n%s", err, change.Diff(ch))
	}
	switch after := c.state(t); {
	case after == before:
		t.Error("applying changed nothing")
	case effect != "" && (strings.Contains(before, effect) || !strings.Contains(after, effect)):
		t.Errorf("want %q with the change and not without; it was\n%s\nand is\n%s\n%s", effect, before, after, change.Diff(ch))
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

// moved edits the places of the change by hand, after the plan and after
// applying.
func (c *Case) moved(t *testing.T, remedy string) {
	x, h := c.executor(t, remedy)
	defer h.Close()
	before := c.state(t)
	ch := c.plan(t, h, remedy)
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

// refused checks, for each place of the change, that an act is refused with a
// diff after a user edit of that place, and that the edit is kept.
func (c *Case) refused(t *testing.T, ch *iikanji.Change, what string, act func() error) {
	t.Helper()
	disturb, edited := c.Disturb, 0
	if disturb == nil {
		disturb = ByHand
	}
	for _, op := range ch.Do {
		if op.Expect == "" {
			continue
		}
		calm, err := disturb(op)
		if err != nil {
			t.Fatal(err)
		}
		if calm == nil {
			continue
		}
		edited++
		disturbed := c.state(t)
		var moved *change.MovedError
		if err := act(); !errors.As(err, &moved) || moved.Diff == "" || moved.Place != op.Location() {
			t.Errorf("%s while %s was edited: %v", what, op.Place, err)
		}
		if c.state(t) != disturbed {
			t.Errorf("being %s while %s was edited overwrote the edit", what, op.Place)
		}
		if err := calm(); err != nil {
			t.Fatal(err)
		}
	}
	if edited == 0 {
		t.Errorf("no place was edited before it was %s: the test proves nothing", what)
	}
}
