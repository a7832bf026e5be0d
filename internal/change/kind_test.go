package change

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// careless is a kind whose undo does not restore the state.
type careless struct{}

func (careless) Name() string                      { return "careless" }
func (careless) Help() string                      { return "" }
func (careless) Acts() []Act                       { return nil }
func (careless) Match(iikanji.Remedy) (Act, error) { return Act{}, nil }
func (careless) Plan(context.Context, *Site, iikanji.Remedy) (*iikanji.Change, error) {
	return &iikanji.Change{Kind: "careless", Target: "t", Says: "s", Ground: "g",
		Do:   []iikanji.Op{{Verb: iikanji.Write, Place: "/a", Body: "x", Expect: Absent}},
		Undo: []iikanji.Op{{Verb: iikanji.Reload, Place: "t"}}}, nil
}

func TestRegistry(t *testing.T) {
	Register(careless{})
	defer delete(registry, "careless")
	if !slices.Contains(Names(), "careless") {
		t.Errorf("kinds %v", Names())
	}
	if _, err := Plan(t.Context(), &Site{}, iikanji.Remedy{Kind: "no such"}); err == nil || !strings.Contains(err.Error(), "no such") {
		t.Errorf("got %v", err)
	}
	for what, f := range map[string]func(){
		"a name taken twice":           func() { Register(careless{}) },
		"a plan that cannot be undone": func() { _, _ = Plan(t.Context(), &Site{}, iikanji.Remedy{Kind: "careless"}) },
	} {
		func() {
			defer func() {
				if r, ok := recover().(string); !ok || !strings.HasPrefix(r, "BUG: ") {
					t.Errorf("%s passed", what)
				}
			}()
			f()
		}()
	}
}

// overwriting is a kind that writes or removes one file.
type overwriting struct{ new []byte }

func (overwriting) Name() string                      { return "overwriting" }
func (overwriting) Help() string                      { return "" }
func (overwriting) Acts() []Act                       { return nil }
func (overwriting) Match(iikanji.Remedy) (Act, error) { return Act{}, nil }
func (k overwriting) Plan(_ context.Context, s *Site, r iikanji.Remedy) (*iikanji.Change, error) {
	old, err := s.ReadOld("", r.Args["path"])
	c := &iikanji.Change{Kind: "overwriting", Target: "t", Says: "s"}
	FromEdits(c, iikanji.VerbUnknown, Edit{Path: r.Args["path"], Old: old, New: k.new})
	return c, err
}

// TestPlanReplaceable: no write is planned of a file if an undo could restore its
// content only, as with a link or another owner.
func TestPlanReplaceable(t *testing.T) {
	r := newRig(t)
	r.write(t, "plain", "x")
	r.write(t, "two", "x")
	if err := errors.Join(os.Link(r.path("two"), r.path("names")), os.Symlink("nowhere", r.path("dangling")), os.Symlink("plain", r.path("link"))); err != nil {
		t.Fatal(err)
	}
	for _, k := range []overwriting{{[]byte("y")}, {nil}} {
		Register(k)
		for name, good := range map[string]bool{"plain": true, "new": true, "link": k.new != nil, "two": false, "dangling": false} {
			if name == "new" && k.new == nil {
				continue // nothing to remove
			}
			_, err := Plan(t.Context(), r.site, iikanji.Remedy{Kind: "overwriting", Args: map[string]string{"path": r.path(name)}})
			if (err == nil) != good || err != nil && !strings.Contains(err.Error(), "could not be undone") {
				t.Errorf("%s becomes %q: %v, want it planned: %v", name, k.new, err, good)
			}
		}
		delete(registry, "overwriting")
	}
}

// weighing is a kind whose changes weaken promises.
type weighing struct {
	act     Act
	weakens []iikanji.Promise
}

func (weighing) Name() string                        { return "weighing" }
func (weighing) Help() string                        { return "" }
func (k weighing) Acts() []Act                       { return []Act{k.act} }
func (k weighing) Match(iikanji.Remedy) (Act, error) { return k.act, nil }
func (k weighing) Plan(_ context.Context, _ *Site, r iikanji.Remedy) (*iikanji.Change, error) {
	c := &iikanji.Change{Kind: "weighing", Target: "t", Says: "s", Weakens: k.weakens}
	FromEdits(c, iikanji.VerbUnknown, Edit{Path: r.Args["path"], Old: nil, New: []byte("x")})
	return c, nil
}

// TestPlanWorth: a change has its act's worth, and that of what it weakens.
func TestPlanWorth(t *testing.T) {
	r := newRig(t)
	line := Act{Worth: WorthLine, Simplifies: true}
	for _, c := range []struct {
		k          weighing
		worth      float64
		simplifies bool
	}{
		{weighing{line, nil}, 0.01, true},
		{weighing{line, []iikanji.Promise{iikanji.RowOrder}}, 0.01, true},
		{weighing{line, []iikanji.Promise{iikanji.Observability}}, 0.01, false},
		{weighing{line, []iikanji.Promise{iikanji.RowOrder, iikanji.Durability}}, 0.03, false},
		{weighing{line, []iikanji.Promise{iikanji.Freshness}}, 0.03, false},
		{weighing{Act{Worth: WorthIndex}, nil}, 0.02, false},
		{weighing{Act{Worth: 0.05}, []iikanji.Promise{iikanji.Freshness}}, 0.05, false},
	} {
		Register(c.k)
		got, err := Plan(t.Context(), r.site, iikanji.Remedy{Kind: "weighing", Args: map[string]string{"path": r.path("new.conf")}})
		if err != nil || got.Worth != c.worth || got.Simplifies != c.simplifies {
			t.Errorf("%+v: %v, %v", c.k, got, err)
		}
		delete(registry, "weighing")
	}
}
