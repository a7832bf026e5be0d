package site

import (
	"fmt"

	"github.com/iikanji/iikanji/internal/arena"
	"github.com/iikanji/iikanji/internal/field"
	"github.com/iikanji/iikanji/internal/scenario"
)

// ScenarioOf is the loader of an arena's own benchmarker against a site that
// answers at a URL. Seed, CPUs and placement are for the caller to fill in.
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
