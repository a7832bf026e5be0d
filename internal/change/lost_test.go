package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/machine/host"
)

// A flaky is the Hands of a site whose host db loses its connection.
type flaky struct {
	*Site
	// lose is called before each op and reading on db, with what is about to be done; true
	// loses the connection then. after: the op is performed before.
	lose  func(what string) (lost, after bool)
	gone  bool // it does not come back
	calls int
}

func (f *flaky) reach(what string, op iikanji.Op, do func() error) error {
	if op.Host != "db" {
		return do()
	}
	f.calls++
	lost, after := f.lose(what + " " + op.Place)
	if !lost {
		return do()
	}
	if after {
		if err := do(); err != nil {
			return err
		}
	}
	return fmt.Errorf("%s of %s: %w", what, op.Place, &host.LostError{Host: "db", Sent: true, Err: errors.New("reset")})
}

func (f *flaky) State(ctx context.Context, op iikanji.Op) (now iikanji.Fingerprint, err error) {
	return now, f.reach("state", op, func() (err error) { now, err = f.Site.State(ctx, op); return err })
}

func (f *flaky) Perform(ctx context.Context, op iikanji.Op) error {
	return f.reach("perform", op, func() error { return f.Site.Perform(ctx, op) })
}

func (f *flaky) Reconnect(context.Context, string) error {
	if f.gone {
		return errors.New("no route")
	}
	return nil
}

// lostRig is a change of a file on db1 ("web") and one on db2 ("db"); the undo needs nothing of
// db first.
func lostRig(t *testing.T) (*Executor, *flaky, *history.History, *iikanji.Change) {
	t.Helper()
	s := twoHosts(t)
	s.Hosts["web"], s.Hosts["db"] = s.Hosts["db1"], s.Hosts["db2"]
	s.Roots = []string{"web:/etc", "db:/etc"}
	c := &iikanji.Change{Kind: "k", Target: "t", Says: "s"}
	FromEdits(c, iikanji.VerbUnknown, Edit{Path: cnf, Host: "db", Old: []byte("old db2"), New: []byte("new")}, Edit{Path: cnf, Host: "web", Old: []byte("old db1"), New: []byte("new")})
	for i := range c.Undo {
		c.Undo[i].After = "-"
	}
	h, err := history.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	if err := errors.Join(Check(c), h.AddChange(c, Diff(c))); err != nil {
		t.Fatal(err)
	}
	f := &flaky{Site: s, lose: func(string) (bool, bool) { return false, false }}
	return &Executor{Hands: f, Journal: h}, f, h, c
}

func contents(t *testing.T, s *Site) string {
	t.Helper()
	var all []string
	for _, name := range []string{"web", "db"} {
		b, err := s.Hosts[name].Read(cnf)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, name+": "+string(b))
	}
	return strings.Join(all, ", ")
}

const (
	asFound = "web: old db1, db: old db2"
	asLeft  = "web: new, db: new"
)

// TestLostAndBack: a connection that is lost at any call of an apply and of a revert, before or
// after the call had its effect, and that is made again, changes nothing of the result.
func TestLostAndBack(t *testing.T) {
	for _, after := range []bool{false, true} {
		for at := 1; ; at++ {
			x, f, _, c := lostRig(t)
			f.lose = func(string) (bool, bool) { return f.calls == at, after }
			if err := x.Apply(t.Context(), c.ID); err != nil || contents(t, f.Site) != asLeft {
				t.Fatalf("lost at call %d (after it %v): %v, %s", at, after, err, contents(t, f.Site))
			}
			if err := x.Revert(t.Context(), c.ID, "test"); err != nil || contents(t, f.Site) != asFound {
				t.Fatalf("lost at call %d (after it %v): reverted %v, %s", at, after, err, contents(t, f.Site))
			}
			if f.calls < at {
				break
			}
		}
	}
}

// TestDeferred: an undo does without a host that does not come back, and says what to type; the
// ops of that host are in the journal and are done by recover.
func TestDeferred(t *testing.T) {
	x, f, h, c := lostRig(t)
	if err := x.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	f.gone, f.lose = true, func(string) (bool, bool) { return true, false }
	err := x.Revert(t.Context(), c.ID, "test")
	var gone *AwayError
	if !errors.As(err, &gone) || gone.Host != "db" || !slices.Equal(gone.Deferred, []string{"db:" + cnf}) || !slices.Equal(gone.Hints(), []string{"iikanji recover, when db answers"}) {
		t.Fatalf("%v", err)
	}
	if got := contents(t, f.Site); got != "web: old db1, db: new" {
		t.Errorf("while db is gone: %s", got)
	}
	if now, err := h.LoadChange(c.ID); err != nil || now.Stage != iikanji.Reverting {
		t.Errorf("stage %v, %v", now.Stage, err)
	}
	if !slices.ContainsFunc(h.Events(), func(e history.Event) bool {
		return e.What == history.OpDeferred && e.Text == "db" && e.Side == history.Undo
	}) {
		t.Error("the journal does not have the deferred op")
	}
	if done, err := x.Recover(t.Context()); !errors.As(err, &gone) || len(done) > 0 {
		t.Errorf("recovered while db is gone: %v, %v", done, err)
	}
	f.lose = func(string) (bool, bool) { return false, false }
	if done, err := x.Recover(t.Context()); err != nil || len(done) != 1 || contents(t, f.Site) != asFound {
		t.Errorf("recovered: %v, %v, %s", done, err, contents(t, f.Site))
	}
}

// TestNotDeferred: an undo whose later op needs one of the lost host stops there, and a change
// that is being applied stays as it is. recover ends both.
func TestNotDeferred(t *testing.T) {
	x, f, h, c := lostRig(t)
	f.gone, f.lose = true, func(what string) (bool, bool) { return strings.HasPrefix(what, "perform"), true }
	err := x.Apply(t.Context(), c.ID)
	var gone *AwayError
	if !errors.As(err, &gone) || gone.Op != "db:"+cnf || len(gone.Deferred) > 0 {
		t.Fatalf("%v", err)
	}
	if now, err := h.LoadChange(c.ID); err != nil || now.Stage != iikanji.Applying {
		t.Errorf("stage %v, %v", now.Stage, err)
	}
	f.lose = func(string) (bool, bool) { return false, false }
	if _, err := x.Recover(t.Context()); err != nil || contents(t, f.Site) != asFound {
		t.Errorf("recovered: %v, %s", err, contents(t, f.Site))
	}

	x, f, h, c = lostRig(t)
	if err := x.Apply(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	slices.Reverse(c.Undo) // db first, and web waits for it
	for i := range c.Undo {
		c.Undo[i].After = ""
	}
	if err := h.AddChange(c, ""); err != nil {
		t.Fatal(err)
	}
	for _, stage := range []iikanji.Stage{iikanji.Applying, iikanji.Applied} {
		if err := h.MoveChange(c.ID, stage, ""); err != nil {
			t.Fatal(err)
		}
	}
	f.gone, f.lose = true, func(string) (bool, bool) { return true, false }
	if err := x.Revert(t.Context(), c.ID, "test"); !errors.As(err, &gone) || contents(t, f.Site) != asLeft {
		t.Errorf("web's op waits for db: %v, %s", err, contents(t, f.Site))
	}
}

// TestAfter: an op waits for earlier ones only.
func TestAfter(t *testing.T) {
	for after, ok := range map[string]bool{"": true, "-": true, "1": true, "2": false, "0": false, "x": false, "1 1": true, "1 3": false} {
		c := &iikanji.Change{Kind: "k", Target: "t", Says: "s"}
		FromEdits(c, iikanji.VerbUnknown, Edit{Path: "/a", New: []byte("x")}, Edit{Path: "/b", New: []byte("x")})
		c.Undo[1].After = after
		if err := Check(c); (err == nil) != ok {
			t.Errorf("After = %q: %v", after, err)
		}
	}
}

// FuzzOrders: the body of an op is read without a panic, and what is read is formatted as it
// was.
func FuzzOrders(f *testing.F) {
	f.Add(UnitOrder{Want: UnitState{Active: true, Enabled: true}, Links: []UnitLink{{"/etc/systemd/system/a.wants/b.service", "/lib/systemd/system/b.service", true}}}.String())
	f.Add(PlaceOrder{Put: true, Host: "web", Source: "/a", Beside: "/b.iikanji-01234567", Found: "1:2", Directly: "10.0.0.1", Digest: "x"}.String())
	f.Add(AccountOrder{As: AccountName{"isu", "localhost"}, Digest: strings.Repeat("0", 64)}.String())
	f.Fuzz(func(t *testing.T, body string) {
		if o, err := ParseUnitOrder(body); err == nil && o.String() != body {
			t.Errorf("%q became %q", body, o.String())
		}
		if o, err := ParsePlaceOrder(body); err == nil && o.String() != body {
			t.Errorf("%q became %q", body, o.String())
		}
		if o, err := ParseAccountOrder(body); err == nil && o.String() != body {
			t.Errorf("%q became %q", body, o.String())
		}
	})
}
