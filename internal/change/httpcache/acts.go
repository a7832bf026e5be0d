package httpcache

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are what this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[varnish](change.Act{
		Name: "varnish", Help: "keep answers in a Varnish between nginx and the app; starts it; weakens freshness",
		Belief: change.Belief{Chance: 0.4, Gain: 0.10}, Worth: change.WorthState,
	}),
	change.Declare[nginxPages](change.Act{
		Name: "nginx", Help: "keep answers in nginx until a write; has a Go app drop them; weakens tested-only",
		Belief: change.Belief{Chance: 0.4, Gain: 0.10}, Worth: change.WorthState,
	}),
	change.Declare[direct](change.Act{
		Name: "direct", Help: "take a Varnish out that the act varnish put in front of the app, and stop it",
		Belief: change.Belief{Chance: 0.1, Gain: 0.05}, Worth: change.WorthState,
	}),
}

// A planner is the decoded arguments of an act.
type planner interface {
	plan(t *task) error
}

// match finds the act of a remedy and decodes its arguments.
func match(r iikanji.Remedy) (change.Act, planner, error) { return change.MatchAct[planner](acts, r) }

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	a, _, err := match(r)
	return a, err
}
