package ondemand

import (
	"github.com/iikanji/iikanji"
	"github.com/iikanji/iikanji/internal/change"
)

// acts are the acts that this kind can plan.
var acts = []change.DeclaredAct{
	change.Declare[wanted](change.Act{
		Help: "start or end a service that the target declares on demand",
		// Alone it gains nothing: a change of the app has to use the service.
		Belief: change.Belief{Chance: 0.01, Gain: 0.01}, Worth: change.WorthState,
	}),
}

// wanted holds the arguments of a remedy.
type wanted struct {
	Run string `arg:"run,required" oneof:"on,off" help:"on or off: whether the service runs; off weakens availability"`
}

func match(r iikanji.Remedy) (change.Act, *wanted, error) { return change.MatchAct[*wanted](acts, r) }

// Help implements change.Kind.
func (Kind) Help() string {
	return "Whether a service that the target declares on demand runs. The target is that service. Starts or ends it."
}

// Acts implements change.Kind.
func (Kind) Acts() []change.Act { return change.ActsOf(acts) }

// Match implements change.Kind.
func (Kind) Match(r iikanji.Remedy) (change.Act, error) {
	act, _, err := match(r)
	return act, err
}
