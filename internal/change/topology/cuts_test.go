package topology

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/contest/lab/labtest"
	"github.com/iikanji/iikanji/internal/machine/host"
	"github.com/iikanji/iikanji/internal/policy/tier"
)

// A cut is one loss of a connection: at which op of which side, when, and how.
type cut struct {
	side   history.Side
	op     int // index
	moment string
	how    labtest.Cut
	// back: the host can be connected to again at once; otherwise only after the command.
	back bool
}

func (c cut) String() string {
	return fmt.Sprintf("%s %d %s %s, back at once: %v", c.side, c.op+1, c.moment, c.how, c.back)
}

// ways are those to lose a connection.
var ways = []labtest.Cut{labtest.Reset, labtest.Killed, labtest.Silent}

// cuts are those of a change: before, within and after each op, in turn by each way.
func cuts(c *iikanji.Change) (all []cut) {
	for _, s := range []struct {
		side history.Side
		ops  []iikanji.Op
	}{{history.Do, c.Do}, {history.Undo, c.Undo}} {
		for i, op := range s.ops {
			for j, moment := range []string{"before", "within", "after"} {
				if op.Host != "" {
					all = append(all, cut{s.side, i, moment, ways[(i+j)%len(ways)], (i+j)%4 == 3})
				}
			}
		}
	}
	return all
}

// Cutting are Hands that lose the connection once.
type cutting struct {
	*change.Site
	far  *labtest.Far // whose connection is cut
	at   string       // Location of the op with its body
	cut  cut
	done bool
}

func key(op iikanji.Op) string { return op.Verb.String() + op.Location() + op.Body }

// Perform implements change.Hands.
func (c *cutting) Perform(ctx context.Context, op iikanji.Op) error {
	if c.done || key(op) != c.at {
		return c.Site.Perform(ctx, op)
	}
	c.done = true
	c.far.Gone = !c.cut.back
	switch c.cut.moment {
	case "before":
		if err := c.far.Lose(c.cut.how); err != nil {
			return err
		}
		return c.Site.Perform(ctx, op)
	case "within":
		ended := make(chan error, 1)
		go func() { ended <- c.Site.Perform(ctx, op) }()
		time.Sleep(15 * time.Millisecond)
		return errors.Join(c.far.Lose(c.cut.how), <-ended)
	}
	if err := c.Site.Perform(ctx, op); err != nil {
		return err
	}
	return errors.Join(c.far.Lose(c.cut.how), &host.LostError{Host: op.Host, Sent: true, Err: errors.New("the answer was lost")})
}

// TestCuts: a connection that is lost before, within or after an op of a move, and that comes
// back at once or much later: after recover both hosts are as before, to the byte.
func TestCuts(t *testing.T) {
	tier.Slow(t)
	c := newContest(t)
	n := 0
	n += c.cutAll(move("step", "prepare"), 8)
	s := c.site()
	x, h := c.executor(s)
	prepare := c.plan(s, h, move("step", "prepare"))
	if err := x.Apply(t.Context(), prepare.ID); err != nil {
		t.Fatal(err)
	}
	n += c.cutAll(move("step", "switch"), 16)
	t.Logf("%d cuts", n)
	if n < 24 {
		t.Errorf("only %d cuts", n)
	}
}

// cutAll tries the cuts of a remedy's change: all of them in make soak, otherwise some of each
// sort.
func (c *contest) cutAll(r iikanji.Remedy, some int) (n int) {
	c.t.Helper()
	if c.now == nil {
		c.now, c.open = c.state, c.site
	}
	before := c.now()
	ch, err := change.Plan(c.t.Context(), c.open(), r)
	if err != nil {
		c.t.Fatal(err)
	}
	all := cuts(ch)
	step := 1.0
	if !tier.Soaking() {
		step = float64(len(all)) / float64(some)
	}
	for at := 0.0; int(at) < len(all); at += step {
		n++
		one := all[int(at)]
		if !c.t.Run(fmt.Sprintf("%s %s", r.Args["step"], one), func(t *testing.T) { c.cutOnce(t, r, one, before) }) {
			return n
		}
	}
	return n
}

// cutOnce applies and reverts with one cut, recovers, and compares.
func (c *contest) cutOnce(t *testing.T, r iikanji.Remedy, one cut, before string) {
	t.Helper()
	defer func(all *testing.T) { c.t = all }(c.t)
	c.t = t
	begin := time.Now()
	defer func() { t.Logf("%v", time.Since(begin)) }()
	s := c.open()
	x, h := c.executor(s)
	ch := c.plan(s, h, r)
	ops := map[history.Side][]iikanji.Op{history.Do: ch.Do, history.Undo: ch.Undo}[one.side]
	name := ops[one.op].Host
	if name == "" {
		name = "web"
	}
	far := c.hosts[name]
	x.Hands = &cutting{Site: s, far: far, at: key(ops[one.op]), cut: one}
	if one.side == history.Undo {
		x.Hands = s
	}
	err := x.Apply(t.Context(), ch.ID)
	if err == nil {
		x.Hands = &cutting{Site: s, far: far, at: key(ops[one.op]), cut: one, done: one.side == history.Do}
		err = x.Revert(t.Context(), ch.ID, "test")
	}
	var gone *change.AwayError
	if err != nil && !errors.As(err, &gone) {
		t.Errorf("%v: %v", one, err)
	}
	if err == nil && !one.back && one.moment != "after" {
		t.Logf("%v: nothing was lost", one)
	}
	if gone != nil && len(gone.Deferred) > 0 {
		t.Logf("deferred %v", gone.Deferred)
		if name == "db" {
			c.answers(fmt.Sprintf("%v: without db", one))
		}
	}
	far.Gone = false
	if err := far.Reconnect(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.Hands = s
	if _, err := x.Recover(t.Context()); err != nil {
		t.Fatalf("%v: %v", one, err)
	}
	if now, err := h.LoadChange(ch.ID); err != nil || now.Stage != iikanji.Reverted {
		t.Errorf("%v: %v, %v", one, now.Stage, err)
	}
	if got := c.now(); got != before {
		t.Fatalf("%v: the hosts are\n%s\nwant\n%s", one, got, before)
	}
	c.answers(one.String())
}

// answers checks that the app answers from web, soon after its restart.
func (c *contest) answers(when string) {
	c.t.Helper()
	var got string
	var err error
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if got, err = c.ask("/"); err == nil && got == "2 items from web" {
			return
		}
	}
	c.t.Errorf("%s: the site answers %q, %v", when, got, err)
}
