package tune

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
	"github.com/iikanji/iikanji/internal/change/history"
	"github.com/iikanji/iikanji/internal/policy/tier"
	"github.com/iikanji/iikanji/internal/proof/search"
)

// errKilled is the panic value of a killed process in these tests.
var errKilled = errors.New("killed")

// A mortal journal ends its process at the n-th event, before or after the event is
// written. It accepts no later event.
type mortal struct {
	*history.History
	left   int
	before bool
	dead   bool
}

func (m *mortal) event(write func() error) error {
	m.left--
	if m.dead || m.left == 0 && m.before {
		m.dead = true
		panic(errKilled)
	}
	err := write()
	if m.left == 0 {
		m.dead = true
		panic(errKilled)
	}
	return err
}

func (m *mortal) MoveChange(id iikanji.ChangeID, to iikanji.Stage, why string) error {
	return m.event(func() error { return m.History.MoveChange(id, to, why) })
}

func (m *mortal) Append(e history.Event) error {
	return m.event(func() error { return m.History.Append(e) })
}

// crash runs a search until its journal kills it; false if the search ended first.
func crash(t *testing.T, tu *Tuner, n int, before bool) (killed bool) {
	t.Helper()
	tu.Acts.Journal = &mortal{History: tu.History.(*history.History), left: n, before: before}
	defer func() {
		if r := recover(); r != nil {
			if e, ok := r.(error); !ok || !errors.Is(e, errKilled) {
				panic(r)
			}
			killed = true
		}
	}()
	if _, err := tu.Tune(t.Context()); err != nil {
		t.Fatalf("event %d: %v", n, err)
	}
	return false
}

// certain returns the proven changes that a ledger has in force.
func certain(t *testing.T, h Store) []iikanji.ChangeID {
	t.Helper()
	var b search.Ledger
	if err := h.ReadLedger(ledgerVersion, &b); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	ids := slices.Clone(b.InForce)
	if b.Open != nil {
		ids = slices.DeleteFunc(ids, func(id iikanji.ChangeID) bool { return slices.Contains(b.Attempts[b.Open.Attempt].Changes, id) })
	}
	return ids
}

// wantInForce checks that the site has exactly the changes in force, and that every
// stage agrees.
func (m *meadow) wantInForce(tu *Tuner, what string) {
	m.t.Helper()
	want := map[string]bool{}
	last := map[string]string{}
	for _, id := range tu.book.ledger().InForce {
		c, err := tu.History.LoadChange(id)
		if err != nil {
			m.t.Fatal(err)
		}
		if c.Stage != iikanji.Kept && !tu.book.ledger().IsOpen(id) {
			m.t.Fatalf("%s: change %d is in force and %s", what, id, c.Stage)
		}
		for _, op := range c.Do {
			if op.Verb == iikanji.Write {
				last[filepath.Base(op.Place)] = op.Body
			}
		}
	}
	for name, value := range last {
		want[name+"="+value] = true
	}
	if got := m.on(); !maps.Equal(got, want) {
		m.t.Fatalf("%s: the site is %v, in force is %v", what, got, want)
	}
	changes, err := tu.History.Changes()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, c := range changes {
		if c.Stage.May(iikanji.Reverting) && !slices.Contains(tu.book.ledger().InForce, c.ID) {
			m.t.Fatalf("%s: change %d is %s and not in force", what, c.ID, c.Stage)
		}
	}
}

// TestTuneKilled sends kill -9 at each event of the journal, then recovers, then
// runs the next search. The site must have exactly the changes in force, no proven
// change may be lost, and all changes must be revertible.
func TestTuneKilled(t *testing.T) {
	tier.Slow(t)
	meadowOf := func() (*meadow, *Tuner) {
		m, tu := newMeadow(t, 7)
		m.effects = map[string]float64{"big=1": math.Log(3), "big=2": math.Log(5), "some=1": 0.25}
		m.breaks["wrong=1"] = true
		m.finds = func(on map[string]bool) []iikanji.Finding {
			f := []iikanji.Finding{turn("DB101", "big", "1", 8), turn("WEB102", "some", "1", 2), turn("APP102", "wrong", "1", 1)}
			if on["big=1"] {
				f = append(f, turn("DB102", "big", "2", 6))
			}
			return f
		}
		tu.Options.Pairs = 2
		return m, tu
	}
	kills := 0
	for n := 1; ; n += 3 {
		m, tu := meadowOf()
		tu.Say = nil
		killed := crash(t, tu, n, n%2 == 0)
		hist := m.h.Dir()
		proven := certain(t, tu.History)
		if err := m.h.Close(); err != nil {
			t.Fatal(err)
		}
		if !killed {
			break
		}
		kills++
		tu = m.tuner(hist)
		tu.Say, tu.Options.Pairs = nil, 2
		if _, err := tu.Acts.Recover(t.Context()); err != nil {
			t.Fatalf("recovering after event %d: %v", n, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		if full := n%10 == 1; !full {
			m.at = func(int) { cancel() } // the first run: the changes are applied by then
		}
		_, err := tu.Tune(ctx)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("going on after event %d: %v", n, err)
		}
		m.wantInForce(tu, "gone on")
		for _, id := range proven {
			dropped := slices.ContainsFunc(tu.book.ledger().Attempts, func(a search.Attempt) bool { return a.Dropped && slices.Contains(a.Changes, id) })
			if !slices.Contains(tu.book.ledger().InForce, id) && !dropped {
				t.Fatalf("killed at event %d: change %d was kept and is lost", n, id)
			}
		}
		if err == nil && !m.on()["big=2"] {
			t.Errorf("killed at event %d: in the end the site is %v", n, m.on())
		}
		if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(m.on()) != 0 {
			t.Fatalf("killed at event %d, reverting all: %v, the site is %v", n, err, m.on())
		}
	}
	if kills < 20 {
		t.Errorf("only %d kills: the test proves little", kills)
	}
}

// interrupted are hands with a Ctrl-C during their n-th op: an op that waits ends
// with its context.
type interrupted struct {
	change.Hands
	left   int
	cancel func()
}

func (i *interrupted) Perform(ctx context.Context, op iikanji.Op) error {
	if i.left--; i.left == 0 {
		i.cancel()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return i.Hands.Perform(ctx, op)
}

// TestTuneInterruptedWithin checks that after Ctrl-C during any op, also of drop-one
// checks and of the last comparison, the site agrees with the journal, no change is
// stuck, and the search can be continued.
func TestTuneInterruptedWithin(t *testing.T) {
	tier.Slow(t)
	for stop := 1; ; stop++ {
		m, tu := newMeadow(t, 2)
		m.effects = map[string]float64{"big=1": math.Log(3), "some=1": 0.15}
		m.finds = func(map[string]bool) []iikanji.Finding {
			return []iikanji.Finding{turn("DB101", "big", "1", 8), turn("WEB102", "some", "1", 2), turn("DB103", "none", "1", 0.5)}
		}
		tu.Say = nil
		ctx, cancel := context.WithCancel(t.Context())
		tu.Acts.Hands = &interrupted{Hands: tu.Acts.Hands, left: stop, cancel: cancel}
		_, err := tu.Tune(ctx)
		phase := tu.display.view.Phase
		cancel()
		if err == nil {
			if stop < 20 || phase != "last comparison" {
				t.Errorf("it ended after %d ops in the %s: the test proves little", stop, phase)
			}
			return
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("op %d, %s: %v", stop, phase, err)
		}
		m.wantInForce(tu, fmt.Sprintf("interrupted in op %d, %s", stop, phase))
		tu = m.next(tu)
		tu.Say = nil
		ctx, cancel = context.WithCancel(t.Context())
		if full := stop%8 == 1; !full {
			m.at = func(int) { cancel() } // the first run: the changes are applied by then
		}
		_, err = tu.Tune(ctx)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("going on after op %d, %s: %v", stop, phase, err)
		}
		m.wantInForce(tu, fmt.Sprintf("gone on after op %d, %s", stop, phase))
		if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(m.on()) != 0 {
			t.Fatalf("op %d, %s: reverting all: %v, the site is %v", stop, phase, err, m.on())
		}
	}
}

// next returns the search of another process on the same history.
func (m *meadow) next(tu *Tuner) *Tuner {
	m.t.Helper()
	hist := m.h.Dir()
	if err := m.h.Close(); err != nil {
		m.t.Fatal(err)
	}
	return m.tuner(hist)
}

// killedApart returns a search that was killed while the last comparison had
// reverted all changes: x=1, y=1, and x=2 on top of the first. x was 0.
func killedApart(t *testing.T) (*meadow, *Tuner) {
	t.Helper()
	m, tu := newMeadow(t, 2)
	m.edit("x", "0")
	m.effects = map[string]float64{"x=1": 0.8, "x=2": 1.6, "y=1": 0.8}
	m.finds = func(on map[string]bool) []iikanji.Finding {
		f := []iikanji.Finding{turn("DB101", "x", "1", 8), turn("DB102", "y", "1", 7)}
		if on["x=1"] {
			f = append(f, turn("DB103", "x", "2", 6))
		}
		return f
	}
	j := &mortal{History: tu.History.(*history.History), left: math.MaxInt}
	tu.Acts.Journal = j
	m.at = func(int) {
		if tu.display.view.Phase == "last comparison" && m.on()["x=0"] {
			j.dead = true // its later events are not written
			panic(errKilled)
		}
	}
	func() {
		defer func() {
			if r := recover(); r != any(errKilled) {
				t.Fatalf("it was not killed in the last comparison: %v", r)
			}
		}()
		_, _ = tu.Tune(t.Context())
	}()
	m.at = nil
	tu = m.next(tu)
	if done, err := tu.Acts.Recover(t.Context()); err != nil || len(done) > 0 {
		t.Fatalf("recovered %v, %v", done, err)
	}
	if away, err := Away(tu.History); err != nil || len(away) != 3 {
		t.Fatalf("away are %v, %v", away, err)
	}
	return m, tu
}

func (m *meadow) edit(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// stages returns the stages of all changes.
func (m *meadow) stages(h Store) (stages []iikanji.Stage) {
	m.t.Helper()
	changes, err := h.Changes()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, c := range changes {
		stages = append(stages, c.Stage)
	}
	return stages
}

// TestPutBack checks that changes that a killed comparison had reverted are applied
// again without another search, and are kept.
func TestPutBack(t *testing.T) {
	tier.Slow(t)
	m, tu := killedApart(t)
	back, notes, err := PutBack(t.Context(), tu.History, tu.Acts)
	if err != nil || len(back) != 3 || len(notes) > 0 {
		t.Errorf("put back %v, %q, %v", back, notes, err)
	}
	want := []iikanji.Stage{iikanji.Kept, iikanji.Kept, iikanji.Kept}
	if on, stages := m.on(), m.stages(tu.History); !on["x=2"] || !on["y=1"] || !slices.Equal(stages, want) {
		t.Errorf("the site is %v, the changes are %v", on, stages)
	}
	if away, err := Away(tu.History); err != nil || len(away) > 0 {
		t.Errorf("still away: %v, %v", away, err)
	}
	if back, _, err := PutBack(t.Context(), tu.History, tu.Acts); err != nil || len(back) > 0 {
		t.Errorf("a second time: %v, %v", back, err)
	}
	if out, err := m.next(tu).Tune(t.Context()); err != nil || len(out.Final) != 4 || !m.on()["x=2"] {
		t.Errorf("going on: %v, the site is %v", err, m.on())
	}
}

// TestPutBackEdited checks that a place with a user edit is left alone. The other
// changes are applied again, by a recovery or by the next search, which continues.
func TestPutBackEdited(t *testing.T) {
	tier.Slow(t)
	for _, recovered := range []bool{true, false} {
		m, tu := killedApart(t)
		m.edit("x", "by hand")
		if recovered {
			back, notes, err := PutBack(t.Context(), tu.History, tu.Acts)
			if err != nil || len(back) != 1 || len(notes) != 2 || !strings.Contains(notes[0], "was edited since") {
				t.Errorf("put back %v, %q, %v", back, notes, err)
			}
			tu = m.next(tu)
		}
		m.finds = func(map[string]bool) []iikanji.Finding { return nil }
		out, err := tu.Tune(t.Context())
		if on := m.on(); err != nil || len(out.Final) != 4 || !on["x=by hand"] || !on["y=1"] {
			t.Fatalf("going on: %v, the site is %v", err, on)
		}
		if undone := slices.DeleteFunc(slices.Clone(out.Attempts), func(a search.Attempt) bool { return !a.Undone }); len(undone) != 2 {
			t.Errorf("undone are %v", undone)
		}
		if _, err := tu.Acts.RevertAll(t.Context(), "all"); err != nil || len(m.on()) != 1 {
			t.Errorf("reverting all: %v, the site is %v", err, m.on())
		}
	}
}

// TestTuneEdited checks that a user edit at the place of a change in force ends the
// next search before its first run, with the difference.
func TestTuneEdited(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 22)
	m.effects["big=1"] = math.Log(3)
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("DB101", "big", "1", 8)} }
	if _, err := tu.Tune(t.Context()); err != nil || !m.on()["big=1"] {
		t.Fatalf("%v, the site is %v", err, m.on())
	}
	m.edit("big", "by hand")
	tu, m.runs = m.next(tu), 0
	var moved *change.MovedError
	if _, err := tu.Tune(t.Context()); !errors.As(err, &moved) || m.runs > 0 || !strings.Contains(moved.Diff, "+by hand") {
		t.Errorf("%d runs, %v", m.runs, err)
	}
	m.edit("big", "1")
	if _, err := m.next(tu).Tune(t.Context()); err != nil || !m.on()["big=1"] {
		t.Errorf("put back by hand: %v, the site is %v", err, m.on())
	}
}

// broken are hands whose ops fail a number of times.
type broken struct {
	change.Hands
	err error
}

func (b *broken) Perform(ctx context.Context, op iikanji.Op) error {
	if b.err != nil {
		return b.err
	}
	return b.Hands.Perform(ctx, op)
}

// TestTuneStuck checks that the next search tries again to undo a stuck change, and
// reports it if this fails again.
func TestTuneStuck(t *testing.T) {
	tier.Slow(t)
	m, tu := newMeadow(t, 2)
	m.effects["big=1"] = math.Log(3)
	m.finds = func(map[string]bool) []iikanji.Finding { return []iikanji.Finding{turn("DB101", "big", "1", 8)} }
	hands := &broken{Hands: tu.Acts.Hands}
	tu.Acts.Hands = hands
	tu.Show = func(v View) {
		if v.Phase == "last comparison" {
			hands.err = errors.New("the disk is full")
		}
	}
	if _, err := tu.Tune(t.Context()); !errors.Is(err, hands.err) || !slices.Equal(m.stages(tu.History), []iikanji.Stage{iikanji.Stuck}) {
		t.Fatalf("%v, the changes are %v", err, m.stages(tu.History))
	}
	tu = m.next(tu)
	tu.Acts.Hands = hands
	if _, err := tu.Tune(t.Context()); err == nil || !strings.Contains(err.Error(), "is stuck") {
		t.Errorf("still broken: %v", err)
	}
	tu = m.next(tu)
	if _, err := tu.Tune(t.Context()); err != nil || !m.on()["big=1"] {
		t.Errorf("mended: %v, the site is %v", err, m.on())
	}
	m.wantInForce(tu, "mended")
}
