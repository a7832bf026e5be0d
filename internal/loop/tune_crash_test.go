package loop

import (
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/history"
)

// errKilled is what a killed process panics with in these tests.
var errKilled = errors.New("killed")

// A mortal journal ends its process at the n-th event, before it is written or
// after; nothing gets into it from then on.
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

// crash runs a search until its journal kills it; false when it came to its end.
func crash(t *testing.T, tu *Tuner, n int, before bool) (killed bool) {
	t.Helper()
	tu.Acts.Journal = &mortal{History: tu.History, left: n, before: before}
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

// certain are the changes that a ledger has in force and that were proven.
func certain(t *testing.T, h *history.History) []iikanji.ChangeID {
	t.Helper()
	var b book
	if err := h.ReadLedger(bookVersion, &b); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	ids := slices.Clone(b.InForce)
	if b.Open != nil {
		ids = slices.DeleteFunc(ids, func(id iikanji.ChangeID) bool { return slices.Contains(b.Attempts[b.Open.Attempt].Changes, id) })
	}
	return ids
}

// wantInForce wants the site to be what is in force, and every stage to fit.
func (m *meadow) wantInForce(tu *Tuner, what string) {
	m.t.Helper()
	want := map[string]bool{}
	last := map[string]string{}
	for _, id := range tu.book.InForce {
		c, err := tu.History.LoadChange(id)
		if err != nil {
			m.t.Fatal(err)
		}
		if c.Stage != iikanji.Kept && !tu.isOpen(id) {
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
		if c.Stage.May(iikanji.Reverting) && !slices.Contains(tu.book.InForce, c.ID) {
			m.t.Fatalf("%s: change %d is %s and not in force", what, c.ID, c.Stage)
		}
	}
}

// TestTuneKilled: kill -9 at any event of the journal, then a recovery, then
// the next search: the site is what is in force, nothing that was proven is
// lost, and all of it can be taken back.
func TestTuneKilled(t *testing.T) {
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
		hist := tu.History.Dir()
		proven := certain(t, tu.History)
		if err := tu.History.Close(); err != nil {
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
			m.at = func(int) { cancel() } // the first run: it stands by then
		}
		_, err := tu.Tune(ctx)
		cancel()
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("going on after event %d: %v", n, err)
		}
		m.wantInForce(tu, "gone on")
		for _, id := range proven {
			dropped := slices.ContainsFunc(tu.book.Attempts, func(a Attempt) bool { return a.Dropped && slices.Contains(a.Changes, id) })
			if !slices.Contains(tu.book.InForce, id) && !dropped {
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
