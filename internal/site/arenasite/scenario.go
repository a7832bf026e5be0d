package arenasite

import (
	"fmt"

	"github.com/iikanji/iikanji/internal/contest/arena"
	"github.com/iikanji/iikanji/internal/load/field"
	"github.com/iikanji/iikanji/internal/load/scenario"
)

// ScenarioOf returns the loader of an arena's own benchmarker for a site at a URL. The
// caller sets seed, CPUs and placement.
func ScenarioOf(a *arena.Arena, url string, o arena.Options) *field.Scenario {
	return &field.Scenario{URL: url, New: func(checkOnly bool) (scenario.Scenario, error) {
		o := o
		o.NoLoad = checkOnly
		sc, err := a.Scenario(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		return sc, nil
	}}
}
