package all_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/iikanji/iikanji"
	_ "github.com/iikanji/iikanji/arenas/all"
	"github.com/iikanji/iikanji/internal/cause"
	"github.com/iikanji/iikanji/internal/change"
	_ "github.com/iikanji/iikanji/internal/change/all"
	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/site/arenasite"
)

// A place is a service of an arena, as it is declared and as changes see its files.
type place struct {
	*arena.Service
	site change.Service
}

// needs are what each kind of change, or one act of it, needs of its target. A kind without
// an entry plans nothing that a rule proposes.
var needs = map[string]func(place) bool{
	"appenv":    func(p place) bool { return p.Role == iikanji.RoleApp && p.IsProcess() },
	"ddl":       func(p place) bool { return p.Engine.MySQLFamily() || p.Engine == iikanji.EngineSQLite },
	"gocode":    func(p place) bool { return p.Engine == iikanji.EngineGo && p.site.Source != "" },
	"parameter": func(place) bool { return true }, // of a command, which no arena has
	"httpcache": func(p place) bool { return p.Engine == iikanji.EngineNginx && p.site.Config != "" },
	"mysqlconf": func(p place) bool { return p.site.DropIn != "" },
	"nginxconf": func(p place) bool { return p.Engine == iikanji.EngineNginx && p.site.Config != "" },
	"patch":     func(p place) bool { return p.site.Source != "" },
	"workers":   func(p place) bool { return p.Role == iikanji.RoleApp && p.site.Source != "" },
	// No arena lets changes set variables of the machine's kernel.
	"sysctl limits": func(p place) bool { return p.IsProcess() },
	// Arenas have no units: the tests of internal/change/unit plan on a machine with systemd.
	"unit": func(p place) bool { return p.IsProcess() },
	// Arenas are on one machine: the tests of internal/change/topology move and spread on two.
	"topology move":    func(p place) bool { return p.Engine.MySQLFamily() && p.IsProcess() },
	"topology weights": func(p place) bool { return p.Role == iikanji.RoleApp && p.IsProcess() },
	// Arenas are on one machine: the tests of internal/change/topology spread on two.
	"topology spread": func(p place) bool { return p.Role == iikanji.RoleApp && p.IsProcess() },
}

// places are the services of all arenas.
func places(t *testing.T) (out []place) {
	t.Helper()
	for _, name := range arena.Names() {
		declared, _ := arena.Find(name)
		a, err := declared.Complete()
		if err != nil {
			t.Fatal(err)
		}
		site := arenasite.Files(iikanji.Target{}, a, "/conf", "/webapp")
		for i := range a.Services {
			out = append(out, place{&a.Services[i], site.Services[a.Services[i].Name]})
		}
	}
	return out
}

// TestRemediesCanBePlanned holds that each declared remedy is an act of a kind of change
// which some service of an arena with the declared role has what it needs for, or that it
// says that a person does it. What the remedies of the test cases say besides is checked by
// the tests of package cause: their arguments are those of the act.
func TestRemediesCanBePlanned(t *testing.T) {
	all := places(t)
	for code, c := range causes(t) {
		for _, w := range c.Remedies {
			if err := planned(w, all); err != nil {
				t.Errorf("%s: %+v: %v", code, w, err)
			}
		}
	}
	for _, w := range []cause.Way{{Kind: "topology"}, cause.Plan("sysctl", "sysctl", iikanji.RoleUnknown), cause.Plan("nginxconf", "gzip", iikanji.RoleDatabase)} {
		if planned(w, all) == nil {
			t.Errorf("%+v can be planned", w)
		}
	}
}

// planned is the reason why no target can have a remedy, nil if one can.
func planned(w cause.Way, all []place) error {
	_, err := change.Match(iikanji.Remedy{Kind: w.Kind, Target: "x"})
	if w == cause.Person {
		if !errors.Is(err, change.ErrByHand) {
			return fmt.Errorf("it is planned although a person does it: %w", err)
		}
		return nil
	}
	if w == cause.Patch && !errors.Is(err, change.ErrNoDiff) {
		return fmt.Errorf("a patch without a diff: %w", err)
	}
	k, ok := change.Lookup(w.Kind)
	need := needs[w.Kind]
	if need == nil {
		need = needs[w.Kind+" "+w.Act]
	}
	if !ok || need == nil {
		return errors.New("no kind plans it")
	}
	if !slices.ContainsFunc(k.Acts(), func(a change.Act) bool { return a.Name == w.Act }) {
		return errors.New("the kind has no such act")
	}
	if !slices.ContainsFunc(all, func(p place) bool { return (w.On == iikanji.RoleUnknown || p.Role == w.On) && need(p) }) {
		return errors.New("no arena has a service for it")
	}
	return nil
}
