package change

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/iikanji/iikanji"
)

// careless is a kind whose undo leads nowhere.
type careless struct{}

func (careless) Name() string { return "careless" }
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
